// The extension: starts `felis lsp` and lets the editor talk to it. All that it knows of the language the
// server tells.

const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function start() {
  const command = workspace.getConfiguration("felis").get("path", "felis");
  const server = { command, args: ["lsp"] };
  const selector = [
    { scheme: "file", language: "felis" },
    { scheme: "untitled", language: "felis" },
  ];
  client = new LanguageClient("felis", "Felis", server, { documentSelector: selector });
  return client.start().catch((error) => {
    window.showErrorMessage(
      `Felis: \`${command} lsp\` could not be started (${error.message}). ` +
        "Install the command, or say in the setting `felis.path` where it is.",
    );
  });
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop().catch(() => {});
}

exports.activate = async function (context) {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    commands.registerCommand("felis.restart", restart),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("felis.path")) {
        restart();
      }
    }),
  );
  await start();
};

exports.deactivate = stop;
