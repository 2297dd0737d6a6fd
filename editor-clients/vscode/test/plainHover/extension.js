// A hover that is there as soon as VS Code can have one: what a window takes until then is no extension's doing.
const vscode = require("vscode");

exports.activate = (context) => {
  const provideHover = () => new vscode.Hover("plain hover");
  context.subscriptions.push(vscode.languages.registerHoverProvider("python", { provideHover }));
};
