//! The export to a collector: a small one that keeps what it is sent, one that never answers, one that is not there.

use crate::bed::{Bed, Ran, Reply, Server, call};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::json;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Path and body of each request.
type Received = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

fn collector() -> (String, Received) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let received = Received::default();
    let kept = received.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, kept) = (stream.unwrap(), kept.clone());
            std::thread::spawn(move || {
                while let Some(request) = read(&mut stream) {
                    kept.lock().unwrap().push(request);
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n");
                }
            });
        }
    });
    (url, received)
}

fn read(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 8_192]);
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"))
                .unwrap();
            let length: usize = length.trim().parse().unwrap();
            if bytes.len() >= end + 4 + length {
                let path = head.split(' ').nth(1).unwrap().to_owned();
                return Some((path, bytes[end + 4..end + 4 + length].to_vec()));
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

fn server() -> Server {
    Server::start(vec![
        call("read_file", json!({ "path": "notes.txt" })),
        call(
            "write_file",
            json!({ "path": "made.txt", "content": "the content" }),
        ),
        Reply::Text("Done, with words of the model."),
    ])
}

fn run(bed: &Bed, endpoint: Option<&str>) -> Ran {
    let server = server();
    let mut command = bed.command_at(&server, &["--approve", "all", "the words of the task"]);
    if let Some(endpoint) = endpoint {
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    }
    Ran::of(command.output().unwrap())
}

fn text<'a>(attributes: &'a [KeyValue], key: &str) -> &'a str {
    let found = attributes.iter().find(|attribute| attribute.key == key);
    match found.and_then(|found| found.value.as_ref()?.value.as_ref()) {
        Some(Value::StringValue(text)) => text,
        _ => "",
    }
}

fn spans(received: &[(String, Vec<u8>)]) -> Vec<Span> {
    let traces = received.iter().filter(|(path, _)| path == "/v1/traces");
    traces
        .flat_map(|(_, body)| {
            ExportTraceServiceRequest::decode(body.as_slice())
                .unwrap()
                .resource_spans
        })
        .flat_map(|resource| resource.scope_spans)
        .flat_map(|scope| scope.spans)
        .collect()
}

#[test]
fn a_turn_is_a_trace_and_its_figures_are_counted() {
    let (url, received) = collector();
    let bed = Bed::new();
    run(&bed, Some(&url)).exits(0);
    let received = received.lock().unwrap();
    let spans = spans(&received);
    let named = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let turn = named("turn")[0];
    assert!(turn.parent_span_id.is_empty());
    assert_eq!(text(&turn.attributes, "gen_ai.conversation.id"), bed.session());
    assert_eq!(text(&turn.attributes, "paddock.outcome"), "completed");
    for (number, tool) in [(1, "read_file"), (2, "write_file")] {
        let iteration = named(&format!("iteration {number}"))[0];
        assert_eq!(iteration.parent_span_id, turn.span_id);
        assert_eq!(text(&iteration.attributes, "gen_ai.request.model"), "m");
        let ran = named(&format!("execute_tool {tool}"))[0];
        assert_eq!(ran.parent_span_id, iteration.span_id);
        assert_eq!(ran.trace_id, turn.trace_id);
        assert_eq!(text(&ran.attributes, "paddock.outcome"), "done");
        assert!(
            turn.start_time_unix_nano <= ran.start_time_unix_nano
                && ran.end_time_unix_nano <= turn.end_time_unix_nano
        );
    }
    assert_eq!(spans.len(), 6);

    let mut sums = Vec::new();
    let mut metrics = received.iter().filter(|(path, _)| path == "/v1/metrics");
    let last = metrics
        .next_back()
        .map(|(_, body)| ExportMetricsServiceRequest::decode(body.as_slice()).unwrap())
        .unwrap();
    for metric in last
        .resource_metrics
        .iter()
        .flat_map(|r| &r.scope_metrics)
        .flat_map(|s| &s.metrics)
    {
        if let Some(Data::Sum(sum)) = &metric.data {
            sums.push((metric.name.as_str(), sum.data_points.len()));
        }
    }
    sums.sort_unstable();
    for counted in [
        ("paddock.calls", 2),
        ("paddock.requests", 1),
        ("paddock.turns", 1),
    ] {
        assert!(sums.contains(&counted), "{counted:?} in {sums:?}");
    }
    for (path, body) in received.iter() {
        let body = String::from_utf8_lossy(body);
        for content in [
            "the words of the task",
            "notes.txt",
            "made.txt",
            "the content",
            "words of the model",
        ] {
            assert!(!body.contains(content), "{content} in {path}");
        }
    }
}

#[test]
fn a_sub_agent_is_told_inside_of_the_call_that_started_it() {
    let (url, received) = collector();
    let bed = Bed::new();
    let server = Server::start(vec![
        call("delegate", json!({ "name": "reader", "task": "read the notes" })),
        call("read_file", json!({ "path": "notes.txt" })),
        Reply::Text("The notes have two lines."),
        Reply::Text("Done."),
    ]);
    let mut command = bed.command_at(&server, &["--approve", "all", "delegate it"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &url);
    Ran::of(command.output().unwrap()).exits(0);
    let spans = spans(&received.lock().unwrap());
    let named = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let (turn, call, inner) = (
        named("turn"),
        named("execute_tool delegate"),
        named("sub-agent turn"),
    );
    assert_eq!(inner.parent_span_id, call.span_id);
    assert_eq!(
        (&inner.trace_id, &call.trace_id),
        (&turn.trace_id, &turn.trace_id)
    );
    let read = named("execute_tool read_file");
    let its_iteration = spans
        .iter()
        .find(|span| span.span_id == read.parent_span_id)
        .unwrap();
    assert_eq!(its_iteration.parent_span_id, inner.span_id);

    let json = bed.run(&["metrics", "--json"]).exits(0);
    let metrics: paddock_protocol::Metrics = serde_json::from_str(&json.out).unwrap();
    assert_eq!(metrics.turns, 1, "a sub-agent has no turn of its own");
    let requests: Vec<(paddock_protocol::UsageSource, u32)> =
        metrics.usage.iter().map(|of| (of.source, of.requests)).collect();
    use paddock_protocol::UsageSource::{Main, SubAgent};
    assert_eq!(requests, [(Main, 2), (SubAgent, 2)]);
    let tools: Vec<&str> = metrics.tools.iter().map(|of| of.tool.as_str()).collect();
    assert_eq!(tools, ["delegate", "read_file"]);
    let trail = bed
        .run(&["audit", "export", "--session", &bed.session()])
        .exits(0);
    assert!(
        trail.out.contains("\"target\":\"notes.txt\"") && trail.out.contains("sub-agent of"),
        "{trail:?}"
    );
}

#[test]
fn nothing_is_sent_unless_it_was_asked_for() {
    let (url, received) = collector();
    let bed = Bed::new();
    run(&bed, None).exits(0);
    let server = server();
    let mut command = bed.command_at(&server, &["--approve", "all", "again"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &url)
        .env("PADDOCK_OTEL", "0");
    Ran::of(command.output().unwrap()).exits(0);
    assert!(received.lock().unwrap().is_empty());
}

#[test]
fn a_collector_that_is_dead_or_silent_costs_no_turn() {
    // Takes connections and never says a word.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for address in [silent.local_addr().unwrap(), dead] {
        let bed = Bed::new();
        let begun = Instant::now();
        run(&bed, Some(&format!("http://{address}"))).exits(0);
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
        assert_eq!(bed.read("made.txt").as_deref(), Some("the content"));
    }
    let bed = Bed::new();
    run(&bed, Some("this is no address")).exits(0);
}
