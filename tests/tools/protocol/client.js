// A client of the protocol's own kit: asks the server of the command in the first argument about
// the program in the second one, and says for each answer whether it has the form that the kit
// demands.

const kit = require("vscode-languageserver-protocol/node");
const { spawn } = require("child_process");
const fs = require("fs");

const [command, path] = process.argv.slice(2);
const text = fs.readFileSync(path, "utf8");
const uri = "file://" + path;
const doc = { textDocument: { uri } };
const all = (list, is) => Array.isArray(list) && list.length > 0 && list.every((one) => is(one));

// The position of a place after the beginning of a word.
function at(word, after) {
  const before = text.slice(0, text.indexOf(word) + after);
  return { line: before.split("\n").length - 1, character: before.length - before.lastIndexOf("\n") - 1 };
}

function check(name, isWell, answer) {
  console.log(isWell ? `${name}: well-formed` : `${name}: ${JSON.stringify(answer).slice(0, 400)}`);
}

const isBefore = (a, b) => a.line < b.line || (a.line === b.line && a.character <= b.character);
const contains = (outer, inner) => isBefore(outer.start, inner.start) && isBefore(inner.end, outer.end);
const isSymbol = (symbol) =>
  kit.DocumentSymbol.is(symbol) &&
  contains(symbol.range, symbol.selectionRange) &&
  (symbol.children || []).every((child) => isSymbol(child));
const isItem = (item) =>
  typeof item.label === "string" &&
  (!item.textEdit || kit.TextEdit.is(item.textEdit) || kit.InsertReplaceEdit.is(item.textEdit));
const isSignature = (signature) =>
  typeof signature.label === "string" &&
  (signature.parameters || []).every(({ label }) =>
    typeof label === "string" ? signature.label.includes(label) : label[1] <= signature.label.length,
  );

async function main() {
  const server = spawn(command, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  const [reader, writer] = [new kit.StreamMessageReader(server.stdout), new kit.StreamMessageWriter(server.stdin)];
  const connection = kit.createProtocolConnection(reader, writer);
  connection.onError(([error]) => console.log(`connection: ${error}`));
  connection.onRequest(kit.RegistrationRequest.type, () => null);
  const published = new Promise((resolve) =>
    connection.onNotification(kit.PublishDiagnosticsNotification.type, resolve),
  );
  connection.listen();
  const ask = (request, more) => connection.sendRequest(request.type, { ...doc, ...more });

  const capabilities = { workspace: { didChangeWatchedFiles: { dynamicRegistration: true } } };
  const parameters = { processId: process.pid, rootUri: null, workspaceFolders: null, capabilities };
  const initialized = await connection.sendRequest(kit.InitializeRequest.type, parameters);
  await connection.sendNotification(kit.InitializedNotification.type, {});
  const document = { uri, languageId: "felis", version: 1, text };
  await connection.sendNotification(kit.DidOpenTextDocumentNotification.type, { textDocument: document });
  const { diagnostics } = await published;
  check("diagnostics", all(diagnostics, kit.Diagnostic.is), diagnostics);

  const here = { position: at("total (", 1) };
  const range = { start: { line: 0, character: 0 }, end: at("println", 0) };
  range.end.line += 1;
  let answer = await ask(kit.HoverRequest, here);
  check("hover", kit.Hover.is(answer), answer);
  answer = await ask(kit.DefinitionRequest, here);
  check("definition", all([].concat(answer), kit.Location.is), answer);
  answer = await ask(kit.ReferencesRequest, { ...here, context: { includeDeclaration: true } });
  check("references", all(answer, kit.Location.is), answer);
  answer = await ask(kit.DocumentHighlightRequest, here);
  check("highlights", all(answer, ({ range }) => kit.Range.is(range)), answer);
  answer = await ask(kit.DocumentSymbolRequest);
  check("symbols", all(answer, isSymbol), answer);
  answer = await connection.sendRequest(kit.WorkspaceSymbolRequest.type, { query: "tot" });
  check("workspace symbols", all(answer, ({ location }) => kit.Location.is(location)), answer);
  answer = await ask(kit.CompletionRequest, { position: at("total (", 2) });
  check("completion", all(answer.items || answer, isItem), answer);
  answer = await connection.sendRequest(kit.CompletionResolveRequest.type, (answer.items || answer)[0]);
  check("resolved completion", isItem(answer), answer);
  answer = await ask(kit.SignatureHelpRequest, { position: at("total (", 7) });
  check("signature help", all(answer && answer.signatures, isSignature), answer);
  answer = await ask(kit.CodeActionRequest, { range, context: { diagnostics } });
  const isAction = (action) => kit.CodeAction.is(action) && kit.WorkspaceEdit.is(action.edit);
  check("code actions", all(answer, isAction), answer);
  answer = await ask(kit.DocumentFormattingRequest, { options: { tabSize: 2, insertSpaces: true } });
  check("formatting", all(answer, kit.TextEdit.is), answer);
  answer = await ask(kit.PrepareRenameRequest, here);
  check("rename asked for", kit.Range.is(answer) || kit.Range.is(answer.range), answer);
  answer = await ask(kit.RenameRequest, { ...here, newName: "whole" });
  check("rename", kit.WorkspaceEdit.is(answer), answer);
  answer = await ask(kit.FoldingRangeRequest);
  check("folds", all(answer, kit.FoldingRange.is), answer);
  answer = await ask(kit.InlayHintRequest, { range });
  check("hints", all(answer, kit.InlayHint.is), answer);
  answer = await ask(kit.SemanticTokensRequest);
  check("tokens", kit.SemanticTokens.is(answer) && answer.data.length % 5 === 0, answer);
  const { tokenTypes } = initialized.capabilities.semanticTokensProvider.legend;
  const known = Object.values(kit.SemanticTokenTypes);
  check("types of tokens", all(tokenTypes, (type) => known.includes(type)), tokenTypes);

  await connection.sendRequest(kit.ShutdownRequest.type);
  await connection.sendNotification(kit.ExitNotification.type);
  console.log(`exit code: ${await ended}`);
  connection.dispose();
}

main().catch((error) => {
  console.log(`failed: ${error.stack}`);
  process.exit(1);
});
