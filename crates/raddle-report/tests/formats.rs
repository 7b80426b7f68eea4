//! Documents of every release are read without loss, and the schemas accept them.

use std::fs;
use std::path::{Path, PathBuf};

use raddle_report::{schema, FailureKind, ReplayReport, Report, TestReport, TestReports, VERSION};
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::{json, Value};

/// What is wrong with a value, by the parts of JSON Schema that the schemas here use.
fn problem(value: &Value, schema: &Value, root: &Value, at: &str) -> Option<String> {
    let Some(schema) = schema.as_object() else {
        return (schema == &Value::Bool(false)).then(|| format!("{at}: nothing is allowed here"));
    };
    let known = [
        "$schema",
        "$ref",
        "$defs",
        "title",
        "description",
        "type",
        "properties",
        "required",
        "items",
        "anyOf",
        "allOf",
        "oneOf",
        "enum",
        "const",
        "format",
        "minimum",
        "maximum",
        "default",
        "additionalProperties",
        "minItems",
        "maxItems",
        "prefixItems",
    ];
    if let Some(keyword) = schema.keys().find(|keyword| !known.contains(&keyword.as_str())) {
        return Some(format!("{at}: this test does not know the keyword {keyword}"));
    }
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(name.trim_start_matches('#')).unwrap_or(&Value::Bool(false));
        if let Some(problem) = problem(value, target, root, at) {
            return Some(problem);
        }
    }
    let parts = |keyword: &str| schema.get(keyword).and_then(Value::as_array).cloned().unwrap_or_default();
    for keyword in ["anyOf", "oneOf"] {
        let any = parts(keyword);
        let problems: Vec<_> = any.iter().filter_map(|schema| problem(value, schema, root, at)).collect();
        if !any.is_empty() && problems.len() == any.len() {
            return problems.into_iter().next();
        }
    }
    if let Some(problem) = parts("allOf").iter().find_map(|schema| problem(value, schema, root, at)) {
        return Some(problem);
    }
    let allowed: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |name: &str| match name {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => value.is_null(),
    };
    if !allowed.is_empty() && !allowed.iter().any(|name| is(name)) {
        return Some(format!("{at}: {value} is not of the type {allowed:?}"));
    }
    let below = schema.get("minimum").and_then(Value::as_f64).is_some_and(|least| value.as_f64() < Some(least));
    if value.is_number() && below {
        return Some(format!("{at}: {value} is too small"));
    }
    if schema.get("enum").and_then(Value::as_array).is_some_and(|all| !all.contains(value)) {
        return Some(format!("{at}: {value} is not one of those allowed"));
    }
    if let Some(object) = value.as_object() {
        if let Some(missing) = parts("required").iter().filter_map(Value::as_str).find(|key| !object.contains_key(*key))
        {
            return Some(format!("{at}: {missing} is missing"));
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for (key, value) in object {
            let schema = properties.and_then(|all| all.get(key)).or(schema.get("additionalProperties"));
            let found = schema.and_then(|schema| problem(value, schema, root, &format!("{at}.{key}")));
            if found.is_some() {
                return found;
            }
        }
    }
    let (items, elements) = (schema.get("items")?, value.as_array()?);
    elements.iter().enumerate().find_map(|(index, value)| problem(value, items, root, &format!("{at}[{index}]")))
}

/// The schema of a document, by its name.
fn schema_of(name: &str) -> Value {
    let (_, schema) = schema::all().into_iter().find(|(known, _)| *known == name).expect("a document");
    schema.to_value()
}

/// What the schema of a document finds wrong.
fn refused(name: &str, document: &Value) -> Option<String> {
    let schema = schema_of(name);
    problem(document, &schema, &schema, name)
}

/// The documents of all releases.
fn documents() -> Vec<(PathBuf, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let entries = |folder: &Path| fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let releases = entries(&folder).filter(|path| path.is_dir());
    let files = releases.flat_map(|release| entries(&release).collect::<Vec<_>>());
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("read");
        let document = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, document)
    };
    files.map(read).collect()
}

/// Which document it is.
fn kind(document: &Value) -> &'static str {
    match (document.get("tests"), document.get("happened_again")) {
        (Some(_), _) => "tests",
        (None, Some(_)) => "replay",
        (None, None) => "test",
    }
}

/// Reads a document and writes it again: nothing may be lost.
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(path: &Path, document: &Value) -> T {
    let read: T =
        serde_json::from_value(document.clone()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let written = serde_json::to_value(&read).expect("is JSON");
    assert_eq!(&written, document, "{}", path.display());
    let text = serde_json::to_string(&read).expect("is JSON");
    assert_eq!(serde_json::from_str::<T>(&text).expect("is read"), read, "{}", path.display());
    read
}

#[test]
fn documents_of_every_release_are_read_without_loss() {
    for (path, document) in documents() {
        match kind(&document) {
            "tests" => {
                let tests: TestReports = round_trip(&path, &document);
                assert!(tests.version == VERSION && tests.tests.len() > 1, "{}", path.display());
            }
            "replay" => {
                let replay: ReplayReport = round_trip(&path, &document);
                assert!(replay.version == VERSION && replay.kind == "deadlock", "{}", path.display());
                assert_eq!(replay.divergence.is_some(), replay.diverged > 0, "{}", path.display());
            }
            _ => {
                // A program with one check has a document like any other, with the name of the check.
                let report = match document.get("test") {
                    Some(_) => round_trip::<TestReport>(&path, &document).report.expect("a campaign"),
                    None => round_trip::<Report>(&path, &document),
                };
                assert!(report.version == VERSION && report.seed == 1 && report.runs > 0, "{}", path.display());
                let known = |kind: &str| FailureKind::from_name(kind).is_some();
                assert!(report.failures.iter().all(|failure| known(&failure.kind)), "{}", path.display());
                assert_eq!(report.failures.is_empty(), report.failing_runs == 0, "{}", path.display());
            }
        }
    }
}

#[test]
fn the_schemas_accept_documents_of_every_release() {
    let all = documents();
    assert!(["test", "tests", "replay"].iter().all(|name| all.iter().any(|(_, document)| kind(document) == *name)));
    for (path, document) in all {
        assert_eq!(refused(kind(&document), &document), None, "{}", path.display());
    }
}

#[test]
fn what_is_special_is_in_the_documents() {
    let all = documents();
    let any = |is_so: &dyn Fn(&Value) -> bool| all.iter().any(|(_, document)| is_so(document));
    assert!(any(&|document| document.get("exhausted").is_some_and(Value::is_null)), "a search that is not over");
    assert!(any(&|document| document.get("exhausted").is_some_and(Value::is_object)), "a search that is over");
    assert!(any(&|document| document.get("unreplayable").is_some()), "threads in parallel");
    assert!(
        any(&|document| document["racing"].as_array().is_some_and(|racing| !racing.is_empty())),
        "places that race"
    );
    assert!(any(&|document| document["divergence"].is_object()), "a replay that diverged");
    assert!(any(&|document| document["tests"][0].get("suite").is_some()), "a cargo project");
}

#[test]
fn the_schemas_refuse_what_is_wrong() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/0.1.0/deadlock.json");
    let right: Value = serde_json::from_str(&fs::read_to_string(path).expect("read")).expect("JSON");
    let wrong = |change: &dyn Fn(&mut Value)| {
        let mut document = right.clone();
        change(&mut document);
        refused("test", &document)
    };
    assert_eq!(wrong(&|_| ()), None);
    assert!(wrong(&|document| document["runs"] = json!("many")).is_some());
    assert!(wrong(&|document| document["seed"] = json!(-1)).is_some());
    assert!(wrong(&|document| document["failures"][0]["threads"][0]["id"] = Value::Null).is_some());
    assert!(wrong(&|document| _ = document.as_object_mut().expect("an object").remove("worth")).is_some());
    assert!(refused("replay", &right).is_some());
}
