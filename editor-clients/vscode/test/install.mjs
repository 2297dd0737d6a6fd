// Put code-server where tests look for it. `node test/install.mjs`; does nothing where it is there.
import { installed, VERSION } from "./codeServer.mjs";

const begun = Date.now();
try {
  const entry = await installed();
  console.log(`code-server ${VERSION}: ${entry} (${Math.round((Date.now() - begun) / 1000)} s)`);
} catch (error) {
  console.error(error.message.trim().replace(/\s+/g, " ").slice(0, 300)); // one line
  process.exitCode = 1;
}
