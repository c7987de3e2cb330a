// What the fence sets aside and what a person may open, in a real browser: nothing is put back unseen, nothing more is
// opened without a second question, a card gets the whole window.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { picture, startPages } from "./support.mjs";

let pages;
before(async () => (pages = await startPages()));
after(() => pages.close());

/** The guards let nothing through sooner. */
const guarded = (page) => page.waitForTimeout(900);
const narrow = { viewport: { width: 560, height: 720 } };

async function open(query, options) {
  const opened = await pages.open(query, options);
  await opened.page.getByTestId("approve-main").waitFor();
  await guarded(opened.page);
  return opened;
}

async function openRow(page) {
  await page.getByText("npm run prepare").first().click();
  await page.getByTestId("look-set-aside").first().waitFor();
}

test("what a command left to run later is put back only after all of it was shown", async () => {
  const { page, complaints } = await open("fixture=quarantine");
  await openRow(page);
  await page.getByTestId("look-set-aside").first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("npx lint-staged").waitFor();
  await dialog.getByText("Git runs what stands here by itself.").waitFor();
  await dialog.getByTestId("put-back").click();
  assert.equal(
    await dialog.isVisible(),
    true,
    "the button waits like those of a card",
  );
  await picture(page, "set-aside");
  await guarded(page);
  await dialog.getByTestId("put-back").click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("no longer waits").first().waitFor();
  await picture(page, "set-aside-decided");
  assert.deepEqual(complaints, []);
});

test("in dark and narrow it can be read as well", async () => {
  const { page, complaints } = await open("fixture=quarantine", {
    ...narrow,
    colorScheme: "dark",
  });
  await openRow(page);
  await page.getByTestId("look-set-aside").last().click();
  await page.getByRole("dialog").getByText("Run `make deploy`").waitFor();
  await picture(page, "set-aside-narrow-dark");
  assert.deepEqual(complaints, []);
});

test("more for one run is asked for a second time, in plain words", async () => {
  const { page, complaints } = await open("fixture=quarantine");
  await page.getByTestId("openings").click();
  await picture(page, "openings-menu");
  await page.getByText("Run once without the sandbox…").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("other projects, keys, settings").waitFor();
  await picture(page, "openings-confirm");
  await dialog.getByTestId("confirm-opening").click();
  assert.equal(
    await dialog.isVisible(),
    true,
    "the second question is guarded too",
  );
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.equal(
    await page.getByTestId("approve-main").isVisible(),
    true,
    "nothing was decided",
  );
  assert.deepEqual(complaints, []);
});

test("O gives a card the whole window, Escape gives it back", async () => {
  const { page, complaints } = await open("fixture=quarantine", {
    colorScheme: "dark",
  });
  await page.keyboard.press("Control+Shift+A");
  await page.keyboard.press("o");
  await page.getByRole("dialog").getByTestId("approve-main").waitFor();
  await page.waitForTimeout(300);
  await picture(page, "card-large-dark");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(await page.getByTestId("approve-main").isVisible(), true);
  assert.deepEqual(complaints, []);
});

test("a group of hosts is allowed with one click and taken back with one", async () => {
  const { page, complaints } = await open("fixture=quarantine");
  await page.keyboard.press("Control+Comma");
  await page.getByRole("button", { name: "Rules", exact: true }).click();
  const row = page.locator('[data-preset="pypi"]');
  await row.getByTestId("allow-preset").click();
  await row.getByText("allowed", { exact: true }).waitFor();
  await page
    .getByText("connections to files.pythonhosted.org")
    .first()
    .waitFor();
  await row.scrollIntoViewIfNeeded();
  await picture(page, "presets");
  await row.getByTestId("revoke-preset").click();
  await row.getByTestId("allow-preset").waitFor();
  assert.deepEqual(complaints, []);
});

test("everything that waits stands on the page of the sandbox", async () => {
  const { page, complaints } = await open("fixture=quarantine", {
    ...narrow,
    colorScheme: "dark",
  });
  await page.keyboard.press("Control+Comma");
  await page.getByRole("button", { name: "Sandbox and access" }).click();
  await page.getByText("Set aside after commands").scrollIntoViewIfNeeded();
  await page.getByTestId("look-set-aside").first().waitFor();
  await picture(page, "set-aside-page-narrow-dark");
  assert.deepEqual(complaints, []);
});
