//! Zed extension: the language server `aurora lsp`, found on the PATH and started with what `settings.json` says of it.

use zed_extension_api::{self as zed, settings::LspSettings, Command, LanguageServerId, Result, Worktree};

struct Aurora;

impl zed::Extension for Aurora {
    fn new() -> Self {
        Aurora
    }

    fn language_server_command(&mut self, _: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let command = worktree
            .which("aurora")
            .ok_or_else(|| "aurora is not on the PATH; install it with: pipx install aurora-context".to_string())?;
        Ok(Command { command, args: vec!["lsp".to_string()], env: worktree.shell_env() })
    }

    fn language_server_initialization_options(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<zed::serde_json::Value>> {
        Ok(LspSettings::for_worktree(server.as_ref(), worktree)?.initialization_options)
    }
}

zed::register_extension!(Aurora);
