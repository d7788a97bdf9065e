// The extension: starts `felis lsp` and lets the editor talk to it. All that it knows of the language the
// server tells.

const { execFile } = require("child_process");
const { commands, env, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;
let output;
// Starts and stops happen one after another, however fast they are asked for.
let done = Promise.resolve();

// Says why a command cannot be the server; `undefined` if it can. What cannot start is not handed to the client,
// which would show messages of its own and try again.
function problem(command) {
  const folder = workspace.workspaceFolders?.[0]?.uri;
  const cwd = folder?.scheme === "file" ? folder.fsPath : undefined;
  return new Promise((resolve) => {
    execFile(command, ["--version"], { cwd, timeout: 10000 }, (error, text) => {
      const other = /^felis\b/.test(text) ? undefined : "it is another command";
      resolve(error?.code === "ENOENT" ? "it is not found" : (error?.message.trim() ?? other));
    });
  });
}

async function start() {
  const command = workspace.getConfiguration("felis").get("path") || "felis";
  let reason = await problem(command).catch((error) => error.message);
  if (reason === undefined) {
    const server = { command, args: ["lsp"] };
    const documentSelector = [
      { scheme: "file", language: "felis" },
      { scheme: "untitled", language: "felis" },
    ];
    client = new LanguageClient("felis", "Felis", server, { documentSelector, outputChannel: output });
    reason = await client.start().catch((error) => error?.message ?? String(error));
  }
  if (reason !== undefined) {
    const open = "Open the setting";
    window
      .showErrorMessage(
        `Felis: \`${command} lsp\` could not be started: ${reason}. ` +
          "Install the command, or say in the setting `felis.path` where it is.",
        open,
      )
      .then((chosen) => {
        if (chosen === open) {
          // Where the editor runs on another machine than its window, the setting is one of that machine.
          const settings = env.remoteName ? "openRemoteSettings" : "openSettings";
          commands.executeCommand(`workbench.action.${settings}`, { query: "felis.path" });
        }
      });
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop().catch(() => {});
}

function restart() {
  done = done.then(stop).then(start);
  return done;
}

exports.activate = function (context) {
  output = window.createOutputChannel("Felis");
  context.subscriptions.push(
    output,
    commands.registerCommand("felis.restart", restart),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("felis.path")) {
        restart();
      }
    }),
  );
  return restart();
};

exports.deactivate = function () {
  done = done.then(stop);
  return done;
};
