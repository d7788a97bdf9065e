//! The language server over time: diagnostics as a text changes, files that import each other,
//! positions, canceled requests, panics, shutdown.

use crate::lsp_client::{Client, edited, place, slice};
use serde_json::{Value, json};

#[test]
fn diagnostics_have_places_codes_reasons_and_links() {
    let mut client = Client::new("diagnostics");
    let text = "val x : int = 1;\nx = 2;\nval y : int = \"𝒳\" ++ 1;\nval z = x + undefined;\n";
    let uri = client.open("wrong.flx", text);
    let wrong = client.diagnostics(&uri, 1);
    assert!(!wrong.is_empty());
    let text = "val x : int = 1;\r\nx = 2;\r\n/* 𝒳 */ val y : int = undefined;\r\n";
    client.replace(&uri, 2, text);
    let wrong = client.diagnostics(&uri, 2);
    let first = &wrong[0];
    assert_eq!(first["code"], "E0407");
    assert_eq!(first["severity"], 1);
    assert_eq!(first["source"], "felis");
    assert_eq!(slice(text, &first["range"]), "x");
    let related = &first["relatedInformation"][0];
    assert_eq!(related["location"]["range"]["start"], json!({ "line": 0, "character": 4 }));
    // The link refers to the page that `felis explain` prints.
    let link =
        first["codeDescription"]["href"].as_str().expect("a link").strip_prefix("file://").expect("a file");
    let page = std::fs::read_to_string(link).expect("a page");
    assert!(page.starts_with("# E0407\n"), "{page}");
    // UTF-16 units after an astral character, in a text with CRLF.
    let second = &wrong[1];
    assert_eq!(second["range"]["start"], json!({ "line": 2, "character": 23 }));
    assert_eq!(slice(text, &second["range"]), "undefined");
    // A corrected text has no diagnostics.
    client.replace(&uri, 3, "val x : int = 1;\n");
    assert_eq!(client.diagnostics(&uri, 3), Vec::<Value>::new());
    let warned = "val x = (1, 2);\nx;\nprintln x;\n";
    client.replace(&uri, 4, warned);
    assert_eq!(client.diagnostics(&uri, 4)[0]["severity"], 2);
}

#[test]
fn quick_fixes_apply_what_helps_say() {
    let mut client = Client::new("fixes");
    let text = "val number = 1;\nprintln numbr;\n";
    let uri = client.open("fixes.flx", text);
    let wrong = client.diagnostics(&uri, 1);
    let range = wrong[0]["range"].clone();
    let asked =
        json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": wrong } });
    let actions = client.request("textDocument/codeAction", asked.clone()).expect("actions");
    let action = &actions[0];
    assert_eq!(action["title"], "did you mean `number`?");
    assert_eq!(action["kind"], "quickfix");
    assert_eq!(action["diagnostics"][0], wrong[0]);
    assert_eq!(edited(text, &action["edit"]["changes"][&uri]), text.replace("numbr", "number"));
    // At other places there are no fixes, and only fixes are offered.
    let elsewhere = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 3 } });
    let mut other = asked.clone();
    other["range"] = elsewhere;
    assert_eq!(client.request("textDocument/codeAction", other), Ok(json!([])));
    let mut other = asked;
    other["context"]["only"] = json!(["refactor"]);
    assert_eq!(client.request("textDocument/codeAction", other), Ok(Value::Null));
}

#[test]
fn a_fix_may_have_several_edits_and_be_in_another_file() {
    let mut client = Client::new("edits");
    let part = client.file("part.flx", "fun inner(x:int):int => x;\n");
    let text = "import \"part.flx\" as part;\nval y : int = 2.5;\nprintln (part::inner y);\n";
    let uri = client.open("main.flx", text);
    let wrong = client.diagnostics(&uri, 1);
    let codes: Vec<&str> = wrong.iter().filter_map(|said| said["code"].as_str()).collect();
    assert_eq!(codes, ["E0301", "E0906"]);
    let mut fixes = Vec::new();
    for said in &wrong {
        let asked = json!({ "textDocument": { "uri": uri }, "range": said["range"], "context": { "diagnostics": [] } });
        let actions = client.request("textDocument/codeAction", asked).expect("actions");
        assert_eq!(actions.as_array().expect("a list").len(), 1, "{actions}");
        fixes.push(actions[0]["edit"]["changes"].clone());
    }
    assert_eq!(edited(text, &fixes[0][&uri]), text.replace("2.5", "(2.5 :> int)"));
    assert_eq!(
        edited("fun inner(x:int):int => x;\n", &fixes[1][&part]),
        "export fun inner(x:int):int => x;\n"
    );
}

#[test]
fn open_texts_count_and_not_what_is_on_disk() {
    let mut client = Client::new("buffers");
    let part = client.file("part.flx", "export fun f(x:int):int => x;\n");
    let uri = client.open("main.flx", "import \"part.flx\" as part;\nval y : string = part::f 1;\n");
    let wrong = client.diagnostics(&uri, 1);
    assert_eq!((wrong.len(), &wrong[0]["code"]), (1, &json!("E0301")));
    // The buffer differs from the file; the diagnostics of the importer are published without a
    // change of its text.
    client.open_text(&part, "export fun f(x:int):string => x.str;\n");
    assert_eq!(client.diagnostics(&uri, 1), Vec::<Value>::new());
    client.replace(&part, 2, "export fun f(x:int):string => x;\n");
    let wrong = client.diagnostics(&uri, 1);
    assert_eq!(wrong.len(), 1);
    let message = wrong[0]["message"].as_str().expect("a message");
    assert!(
        message.starts_with("in ") && message.contains("part.flx: expected `string`, found `int`"),
        "{message}"
    );
    assert_eq!(wrong[0]["range"]["start"], json!({ "line": 0, "character": 7 }), "at the import");
    assert!(
        wrong[0]["relatedInformation"][0]["location"]["uri"].as_str().expect("a URI").ends_with("/part.flx")
    );
    // After the close, the file on disk counts again.
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": part } }));
    assert_eq!(client.diagnostics(&uri, 1)[0]["code"], "E0301");
    // A text that has never been saved can be imported; this corrects its importer.
    client.replace(&uri, 2, "import \"new.flx\" as new;\nprintln new::a;\n");
    assert_eq!(client.diagnostics(&uri, 2)[0]["code"], "E0901");
    let new = uri.replace("main.flx", "new.flx");
    client.open_text(&new, "export val a = 1;\n");
    assert_eq!(client.diagnostics(&uri, 2), Vec::<Value>::new());
    // Texts that import each other are rejected, each at its own place.
    client.replace(&new, 2, "import \"main.flx\" as main;\nexport val a = 1;\n");
    assert_eq!(client.diagnostics(&uri, 2)[0]["code"], "E0903");
}

#[test]
fn changes_are_applied_where_the_editor_says() {
    let mut client = Client::new("changes");
    let text = "// 𝒳𝒴\r\nval t = \"𝒳\"; val a = 1;\r\nprintln a;\r\n";
    let uri = client.open("changes.flx", text);
    client.diagnostics(&uri, 1);
    // Two edits in one message, the second relative to the text after the first.
    let first = json!({ "start": { "line": 1, "character": 18 }, "end": { "line": 1, "character": 19 } });
    let second = json!({ "start": { "line": 0, "character": 5 }, "end": { "line": 0, "character": 7 } });
    client.change(&uri, 2, json!([{ "range": first, "text": "bc" }, { "range": second, "text": "" }]));
    let wrong = client.diagnostics(&uri, 2);
    let now = "// 𝒳\r\nval t = \"𝒳\"; val bc = 1;\r\nprintln a;\r\n";
    assert_eq!(slice(now, &wrong[0]["range"]), "a");
    let told = client.at("textDocument/hover", &uri, now, "val b|c");
    assert_eq!(told["range"], json!({ "start": place(now, "|bc"), "end": place(now, "bc|") }));
    // Positions beyond the text mean its end.
    let beyond = json!({ "start": { "line": 99, "character": 9 }, "end": { "line": 99, "character": 99 } });
    client.change(&uri, 3, json!([{ "range": beyond, "text": "val a = 2;" }]));
    assert_eq!(
        client.diagnostics(&uri, 3)[0]["code"],
        json!("E0401"),
        "a name is known from its definition on"
    );
}

#[test]
fn layout_replaces_what_differs_and_leaves_broken_texts() {
    let mut client = Client::new("layout");
    let text = "val a = 1;\nval b=2   ;\nval c = 3;\n";
    let uri = client.open("layout.flx", text);
    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let asked = json!({ "textDocument": { "uri": uri }, "options": options });
    let edits = client.request("textDocument/formatting", asked.clone()).expect("edits");
    assert_eq!(edits.as_array().expect("a list").len(), 1);
    assert_eq!(slice(text, &edits[0]["range"]), "val b=2   ;\n");
    assert_eq!(edited(text, &edits), "val a = 1;\nval b = 2;\nval c = 3;\n");
    let crlf = "val a = 1;\r\nval b=2   ;\r\n";
    client.replace(&uri, 4, crlf);
    let edits = client.request("textDocument/formatting", asked.clone()).expect("edits");
    assert_eq!(edited(crlf, &edits), "val a = 1;\r\nval b = 2;\r\n");
    assert_eq!(slice(crlf, &edits[0]["range"]), "val b=2   ;\r\n");
    let crlf = "/* a\r\n   b */\r\nval b=2   ;\r\n";
    client.replace(&uri, 5, crlf);
    let edits = client.request("textDocument/formatting", asked.clone()).expect("edits");
    assert_eq!(edited(crlf, &edits), "/* a\r\n   b */\r\nval b = 2;\r\n");
    client.replace(&uri, 5, "val b=2   ;;)\n");
    assert_eq!(client.request("textDocument/formatting", asked.clone()), Ok(Value::Null));
    client.replace(&uri, 6, "val b = 2;\n");
    assert_eq!(client.request("textDocument/formatting", asked), Ok(json!([])));
}

#[test]
fn a_panic_is_an_error_and_the_server_lives() {
    let mut client = Client::new("panic");
    let uri = client.open("a.flx", "val x = sum (1, 2);\n");
    client.diagnostics(&uri, 1);
    if cfg!(debug_assertions) {
        let error = client.request("felis/panic", json!({})).expect_err("an error");
        assert_eq!(error["code"], -32603);
    }
    let told = client.at("textDocument/hover", &uri, "val x = sum (1, 2);\n", "|x = ");
    assert_eq!(told["contents"]["value"], "```felis\nval x : int\n```\n");
    let error = client.request("felis/nonsense", json!({})).expect_err("an error");
    assert_eq!(error["code"], -32601);
    let error = client.request("textDocument/hover", json!({ "position": 1 })).expect_err("an error");
    assert_eq!(error["code"], -32602);
    // A text that is not open is ignored, and invalid notifications do not end the server.
    client.notify("textDocument/didChange", json!({ "nonsense": true }));
    client.notify("$/unknown", json!(null));
    let gone = uri.replace("a.flx", "b.flx");
    assert_eq!(client.at("textDocument/hover", &gone, "x", "x"), Value::Null);
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn requests_that_are_taken_back_are_not_worked_on() {
    let mut client = Client::new("cancel");
    let text = "fun f(x:int):int => sum (x, x);\n".to_string();
    let many: String = (0..400).map(|n| text.replace("f(", &format!("f{n}("))).collect();
    let uri = client.open("many.flx", &many);
    // The second request is canceled while the first one is handled. On a very busy machine the
    // cancellation may sometimes be too late, but not every time.
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9999, "character": 0 } });
    let asked = json!({ "textDocument": { "uri": uri }, "range": range });
    let mut heeded = (0..20).map(|_| {
        let first = client.ask("felis/sleep", json!({}));
        let second = client.ask("textDocument/inlayHint", asked.clone());
        client.notify("$/cancelRequest", json!({ "id": second }));
        assert!(client.answer(first).is_ok());
        client.answer(second).is_err_and(|error| error["code"] == -32800)
    });
    assert!(!cfg!(debug_assertions) || heeded.any(|heeded| heeded));
}

#[test]
fn only_the_last_of_many_changes_is_told() {
    let mut client = Client::new("debounce");
    let uri = client.open("typing.flx", "val x = 1;\n");
    client.diagnostics(&uri, 1);
    for version in 2..=40 {
        client.replace(
            &uri,
            version,
            &format!("val x = {version}{};\n", if version < 40 { "+" } else { "" }),
        );
    }
    assert_eq!(client.diagnostics(&uri, 40), Vec::<Value>::new());
    let told = client.told_before();
    assert!(told.len() < 38, "{} diagnostics were told while one typed", told.len());
}

#[test]
fn the_server_ends_with_its_client() {
    let client = Client::new("leave");
    assert_eq!(client.leave(), Some(0));
    // Without a shutdown request the server ends, too, with an exit code for the error.
    let client = Client::new("vanish");
    assert_eq!(client.vanish(), Some(1));
    let mut client = Client::new("late");
    client.request("shutdown", Value::Null).expect("heeded");
    let error = client.request("textDocument/hover", json!({})).expect_err("too late");
    assert_eq!(error["code"], -32600);
}

#[test]
fn arguments_of_programs_are_known_as_to_the_command() {
    let mut client = Client::new("args");
    let uri = client.open("args.flx", "for a in args do println a; done\n");
    assert_eq!(client.diagnostics(&uri, 1), Vec::<Value>::new());
    let told = client.at("textDocument/hover", &uri, "for a in args do println a; done\n", "a in |args");
    assert!(told["contents"]["value"].as_str().expect("a text").contains("string ^"), "{told}");
}

#[test]
fn an_editor_that_can_watch_is_asked_to() {
    let watching = json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    let mut client = Client::with("watch", watching);
    let asked = client.told("client/registerCapability");
    assert_eq!(asked["registrations"][0]["method"], "workspace/didChangeWatchedFiles");
    let part = client.file("part.flx", "export val a = 1;\n");
    let uri = client.open("main.flx", "import \"part.flx\" as part;\nval x : int = part::a;\n");
    assert_eq!(client.diagnostics(&uri, 1), Vec::<Value>::new());
    client.file("part.flx", "export val a = \"one\";\n");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": part, "type": 2 }] }));
    assert_eq!(client.diagnostics(&uri, 1)[0]["code"], "E0301");
}

/// The parameters of an editor may have any form; only those in use are read.
#[test]
fn what_an_editor_says_of_itself_need_not_be_well_formed() {
    let odd = json!({
        "textDocument": { "semanticTokens": {}, "hover": 3 },
        "workspace": { "didChangeWatchedFiles": "yes" },
    });
    let mut client = Client::with("odd", odd);
    let uri = client.open("main.flx", "val x : int = true;\n");
    assert_eq!(client.diagnostics(&uri, 1).len(), 1);
}
