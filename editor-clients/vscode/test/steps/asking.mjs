// Questions: answered by a provider, stopped, and answered by the editor's own model where the user lends it.
import { arrived, configuration, remoteSettings, session } from "./world.mjs";

export const asking = {
  async "a question is answered in a page, phase by phase"({ window, page, options }) {
    await window.file("src/basket.py", 20, 6);
    await page.keyboard.press("Control+Alt+A");
    await window.input.waitFor();
    await window.input.fill(options.question);
    await page.keyboard.press("Enter");
    const working = await window.preview(/assess|retrieve|decompose/);
    await window.picker.getByText("AURORA asks back").waitFor();
    const question = await window.picker.innerText();
    await window.shot("asking-back");
    await window.input.press("Enter"); // with nothing
    const text = await window.preview(/How it was answered/, 120_000);
    return { working, question, text };
  },

  async "a question that is stopped ends at once"({ window, options }) {
    return stopped(window, options, options.slowQuestion);
  },

  async "the editor's own model is not used before its user has agreed"({ window, page, options }) {
    configuration(options, "editor");
    await ask(window, page, options.lent.kept);
    const told = await window.notification(/no editor that lends its model/);
    await window.shot("not-lent");
    await window.clearNotifications();
    await session(options, window, () => remoteSettings(options, { "aurora.languageModel.allow": true, "aurora.languageModel.family": "lent" }));
    await ask(window, page, options.lent.refused);
    const consent = await window.dialog(/Lent Model/);
    await window.shot("consent");
    await window.answerDialog("Cancel");
    const refused = await window.preview(/cannot be used/, 60_000);
    await window.clearNotifications();
    await window.command("View: Close All Editors");
    return { told, consent, refused };
  },

  async "the editor's own model answers once it is lent"({ window, page, options }) {
    await ask(window, page, options.lent.question);
    await window.dialog(/Lent Model/);
    await window.answerDialog("Allow");
    const text = await window.preview(/How it was answered/, 120_000);
    await window.shot("lent");
    const slow = await stopped(window, options, options.lent.slow);
    return { text, stopped: slow.text };
  },

  async "the editor's own model is not used once it is taken back"({ window, page, options }) {
    await session(options, window, () => remoteSettings(options, {}));
    await ask(window, page, options.lent.withdrawn);
    const told = await window.notification(/no editor that lends its model/);
    await window.clearNotifications();
    await window.command("View: Close All Editors");
    configuration(options, "provider");
    return { told };
  },
};

async function ask(window, page, question) {
  await window.command("AURORA: Ask");
  await window.picker.getByText("AURORA: Ask").waitFor();
  await window.input.fill(question);
  await page.keyboard.press("Enter");
}

/** Ask, and stop it while a model is at work. */
async function stopped(window, options, question) {
  await ask(window, window.page, question);
  const toast = window.page.locator(".notification-toast").filter({ hasText: "AURORA" }).first();
  await toast.filter({ hasText: "decompose" }).waitFor();
  await window.until("the model is asked", () => arrived(options, question));
  const at = Date.now();
  await toast.locator(".monaco-button", { hasText: "Cancel" }).click();
  const text = await window.preview(/Stopped\./);
  const ms = Date.now() - at;
  await window.shot("stopped");
  await window.command("View: Close All Editors");
  return { text, ms };
}
