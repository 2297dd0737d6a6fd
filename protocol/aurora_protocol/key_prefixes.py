"""Prefixes of keys (API key formats and patterns): providers whose keys begin with letters of their own, so that one is
known wherever it stands.

A row is the prefix, what follows it, its kind for machines and its noun for people. All are facts that providers
publish; where what follows could be a name in code, a digit has to be in it.
"""

from __future__ import annotations

_HEX, _LOWER, _WORD, _ID, _32 = "[0-9a-f]", "[0-9a-z]", "[0-9A-Za-z]", "[0-9A-Za-z_-]", "[2-7a-z]"
_64 = "[0-9A-Za-z+/]"
_UUID = "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_DIGIT = "(?=[A-Za-z_-]{0,60}+[0-9])"

PREFIXES: tuple[tuple[str, str, str, str], ...] = (
    # Clouds and platforms
    ("STS.", _DIGIT + _WORD + "{16,64}", "alibaba_key", "an Alibaba Cloud key"),
    ("CAIS", _DIGIT + "[0-9A-Za-z+/_=-]{40,1000}", "alibaba_token", "an Alibaba Cloud token"),
    ("AQ.Ab8RN6", _ID + "{44}", "google_key", "a Gemini key"),
    ("FlyV1 ", "[0-9A-Za-z_=,/+-]{100,2000}", "flyio_token", "a Fly.io token"),
    ("EXO", _DIGIT + _WORD + "{24,30}", "exoscale_key", "an Exoscale key"),
    ("ucat_", _DIGIT + _WORD + "{24,32}", "upcloud_token", "an UpCloud token"),
    ("essu_", _ID + "{60,200}={0,2}", "elastic_key", "an Elastic Cloud key"),
    ("ddp_", _WORD + "{36}", "deno_token", "a Deno token"),
    ("ion_", _DIGIT + _WORD + "{42}", "ionic_token", "an Ionic token"),
    ("tskey-", f"(?:api|auth|client|scim|webhook)-{_DIGIT}{_ID}{{20,100}}", "tailscale_key", "a Tailscale key"),
    *((f"vc{letter}_", _ID + "{56}", "vercel_token", "a Vercel token") for letter in "aciprk"),
    ("zpka_", f"{_LOWER}{{32}}_{_HEX}{{8}}", "zuplo_key", "a Zuplo key"),
    ("unkey_", _DIGIT + _WORD + "{20,32}", "unkey_key", "an Unkey key"),
    ("sdk-", _UUID, "launchdarkly_key", "a LaunchDarkly key"),
    ("mob-", _UUID, "launchdarkly_key", "a LaunchDarkly key"),
    *((f"xa{letter}t-", _UUID, "axiom_token", "an Axiom token") for letter in "ap"),
    *(
        (f"hc{which}k_", _DIGIT + _LOWER + "{56,60}", "honeycomb_key", "a Honeycomb key")
        for which in ("ai", "xi", "am")
    ),
    ("xau_", _DIGIT + _WORD + "{40,48}", "xata_key", "a Xata key"),
    ("DO00", "[0-9A-Z]{16}", "digitalocean_key", "a key of DigitalOcean Spaces"),
    ("SCW", _DIGIT + "[0-9A-Z]{17}", "scaleway_key", "a Scaleway key"),
    ("eyJhIjoi", _64 + "{100,400}={0,2}", "cloudflare_token", "a token of a Cloudflare tunnel"),
    ("gcntfy-", f"[0-9a-z_]{{1,60}}-{_UUID}-{_UUID}", "notify_key", "a key of Notify"),
    # Code, builds and packages
    ("AIK_", f"(?:CI|CLIENT|SECRET)_{_WORD}{{20,64}}", "aikido_key", "an Aikido key"),
    ("bkua_", _LOWER + "{40,53}", "buildkite_token", "a Buildkite token"),
    ("bkpat_", _WORD + "{50,60}", "buildkite_token", "a Buildkite token"),
    ("CCIPAT_", f"{_WORD}{{22}}_{_LOWER}{{40}}", "circleci_token", "a CircleCI token"),
    ("CCIPRJ_", f"{_WORD}{{22}}_{_LOWER}{{40}}", "circleci_token", "a CircleCI token"),
    ("csa_", f"{_HEX}{{30}}{_WORD}{{6}}", "cloudsmith_key", "a Cloudsmith key"),
    ("dckr_oat_", _ID + "{32}", "docker_token", "a Docker token"),
    ("SWMTKN-1-", f"{_LOWER}{{50,60}}-{_LOWER}{{24,30}}", "docker_token", "a token of a Docker swarm"),
    ("SWMKEY-1-", _64 + "{40,50}", "docker_key", "a key of a Docker swarm"),
    ("endr+", _ID + "{16}", "endorlabs_key", "an Endor Labs key"),
    ("mergify_application_key_", _ID + "{40,200}", "mergify_key", "a Mergify key"),
    ("vtwn_", _DIGIT + _ID + "{20,80}", "valtown_token", "a Val Town token"),
    ("tss_", _DIGIT + _ID + "{20,80}", "thunderstore_token", "a Thunderstore token"),
    ("packagist_", f"(?:ort|uut|out|act)_{_HEX}{{60,80}}", "packagist_token", "a Packagist token"),
    *((f"jsr{letter}_", _DIGIT + _ID + "{40,48}", "jsr_token", "a JSR token") for letter in "tpd"),
    ("st.", rf"{_UUID}\.{_HEX}{{32}}\.{_HEX}{{32}}", "infisical_token", "an Infisical token"),
    ("waka_", f"(?:{_UUID}|{_DIGIT}{_WORD}{{36,64}})", "wakatime_key", "a WakaTime key"),
    # Models and agents
    ("apify_api_", _WORD + "{34,38}", "apify_token", "an Apify token"),
    ("BSA", "(?=[0-9A-Za-z_-]{0,40}[a-z])" + _DIGIT + _ID + "{24,40}", "brave_key", "a Brave Search key"),
    ("csk-", _LOWER + "{48}", "cerebras_key", "a Cerebras key"),
    ("key_", _HEX + "{64}", "cursor_key", "a Cursor key"),
    ("apk_", f"(?:user_)?{_64}{{80,180}}={{0,2}}", "devin_key", "a Devin key"),
    ("cog_", _32 + "{52}", "devin_token", "a Devin token"),
    ("sk_", _HEX + "{48}", "elevenlabs_key", "an ElevenLabs key"),
    ("pcsk_", f"{_WORD}{{5,6}}_{_WORD}{{63}}", "pinecone_key", "a Pinecone key"),
    ("rpa_", f"(?:{_DIGIT}[0-9A-Z]{{40}}{_WORD}{{6}}|{_DIGIT}{_WORD}{{30}})", "runpod_key", "a RunPod key"),
    ("tgp_v1_", _ID + "{43}", "together_key", "a Together AI key"),
    ("wandb_v1_", "[0-9A-Za-z_]{77}", "wandb_key", "a Weights & Biases key"),
    ("xai-", _ID + "{70,120}", "xai_key", "an xAI key"),
    ("tvly-", f"(?:dev-|prod-)?{_DIGIT}{_WORD}{{32,60}}", "tavily_key", "a Tavily key"),
    ("fw_", _DIGIT + _WORD + "{22,28}", "fireworks_key", "a Fireworks key"),
    ("fc-", _HEX + "{32}", "firecrawl_key", "a Firecrawl key"),
    ("pa-", _DIGIT + _ID + "{40,46}", "voyage_key", "a Voyage key"),
    ("jina_", f"{_HEX}{{32}}{_ID}{{28}}", "jina_key", "a Jina key"),
    ("e2b_", _HEX + "{40}", "e2b_key", "an E2B key"),
    # Messages, mail and people
    ("mlsn.", _DIGIT + _WORD + "{30,100}", "mailersend_token", "a MailerSend token"),
    ("os_v2_", f"(?:app|org)_{_32}{{103}}", "onesignal_key", "a OneSignal key"),
    ("syt_", f"{_64}{{2,200}}={{0,2}}_{_WORD}{{20}}_{_WORD}{{6}}", "matrix_token", "a Matrix token"),
    ("ATTA", "[0-9A-Fa-f]{60,76}", "trello_token", "a Trello token"),
    ("dG9rO", _64 + "{50,60}={0,2}", "intercom_token", "an Intercom token"),
    ("md-", _DIGIT + _ID + "{22}", "mandrill_key", "a Mandrill key"),
    ("api-", "[0-9A-F]{32}", "smtp2go_key", "an SMTP2GO key"),
    ("pina_", _DIGIT + _ID + "{20,200}", "pinterest_token", "a Pinterest token"),
    ("lip_", _DIGIT + _WORD + "{16,60}", "lichess_token", "a Lichess token"),
    ("pk_", f"{_DIGIT}{_LOWER}{{34}}", "klaviyo_key", "a Klaviyo key"),
    ("pk_", f"[0-9]{{6,10}}_{_DIGIT}{_WORD}{{32}}", "clickup_token", "a ClickUp token"),
    ("A" * 22, "(?=[A-Za-z]{0,60}+[0-9%])[0-9A-Za-z%]{80,100}", "twitter_token", "a Twitter token"),
    ("re_", f"{_DIGIT}{_WORD}{{8}}_{_WORD}{{20,32}}", "resend_key", "a Resend key"),
    # Money, shops and identity
    ("$aact_", f"(?:prod|hmlg)_{_DIGIT}{_ID}{{20,200}}", "asaas_token", "an Asaas token"),
    ("sk_", f"(?:test_)?{_UUID}", "checkout_key", "a Checkout.com key"),
    ("PRD-", f"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{4,12}}", "ebay_secret", "an eBay secret"),
    ("mercury_production_", f"[a-z]{{3,6}}_{_WORD}{{40,50}}_yrucrem", "mercury_token", "a Mercury token"),
    ("Mid-", f"(?:server|client)-{_DIGIT}[0-9A-Za-z_]{{10,40}}", "midtrans_key", "a Midtrans key"),
    *((f"api_live{land}.", _DIGIT + _ID + "{20,80}", "onfido_token", "an Onfido token") for land in ("", "_ca", "_us")),
    ("pdl_", f"(?:live|sdbx)_apikey_{_LOWER}{{26}}_{_WORD}{{22}}_{_WORD}{{3}}", "paddle_key", "a Paddle key"),
    ("persona_production_", _DIGIT + "[0-9a-z_-]{20,80}", "persona_key", "a Persona key"),
    ("rzp_", f"(?:live|test)_{_WORD}{{14}}", "razorpay_key", "a Razorpay key"),
    ("xnd_", f"(?:public_)?(?:production|development)_{_WORD}{{40,100}}", "xendit_key", "a Xendit key"),
    *((f"c{letter}_", _HEX + "{40}", "woocommerce_key", "a WooCommerce key") for letter in "ks"),
    *((f"{lead}_", _DIGIT + _WORD + "{30}", "mollie_key", "a Mollie key") for lead in ("live", "test")),
    ("skey_", f"(?:test_)?{_DIGIT}{_LOWER}{{19}}", "omise_key", "an Omise key"),
    ("APP_USR-", f"[0-9]{{12,18}}-[0-9]{{6}}-{_HEX}{{32}}-[0-9]{{6,12}}", "mercadopago_token", "a Mercado Pago token"),
    ("xprv", "[1-9A-HJ-NP-Za-km-z]{107}", "wallet_key", "a private key of a wallet"),
    ("nsec1", "[02-9ac-hj-np-z]{58}", "nostr_key", "a private key of Nostr"),
    ("polar_", f"(?:at|oat|pat|rt|cs)_(?:[ou]_)?{_DIGIT}{_ID}{{20,100}}", "polar_token", "a Polar token"),
    ("prf_", f"(?:cli_)?{_DIGIT}(?=[0-9a-z_-]{{0,40}}[A-Z]){_ID}{{20,80}}", "proof_key", "a Proof key"),
    ("apikey_", _HEX + "{64}", "rainforest_key", "a Rainforest key"),
    ("ramp_", f"(?:id|sec)_{_WORD}{{40,48}}", "ramp_key", "a Ramp key"),
    ("sk_live_a2V5Xz", _64 + "{40,200}={0,2}", "workos_key", "a WorkOS key"),
    # Data, monitoring, design, work
    ("cnvca", _ID + "{51}", "canva_secret", "a Canva secret"),
    ("CCDB1_", f"{_WORD}{{22}}_{_WORD}{{40}}", "cockroach_key", "a CockroachDB key"),
    ("configcat-sdk-1/", f"{_ID}{{22}}/{_ID}{{22}}", "configcat_key", "a ConfigCat key"),
    (
        "db-",
        f"{_DIGIT}(?=[0-9A-Za-z]{{0,29}}[A-Z])(?=[0-9A-Za-z]{{0,29}}[a-z]){_WORD}{{29}}",
        "databento_key",
        "a Databento key",
    ),
    ("AstraCS:", f"{_WORD}{{20,40}}(?::{_HEX}{{64}})?", "astra_token", "an Astra token"),
    ("dvc_", f"(?:client|mobile|server)_{_DIGIT}[0-9A-Za-z_]{{8,80}}", "devcycle_key", "a DevCycle key"),
    ("mdb_sa_sk_", _ID + "{40}", "mongodb_secret", "a MongoDB Atlas secret"),
    ("napi_", _WORD + "{64}", "neon_key", "a Neon key"),
    *((f"ph{letter}_", _DIGIT + _ID + "{40,50}", "posthog_key", "a PostHog key") for letter in "cx"),
    ("rootly_", _HEX + "{64}", "rootly_key", "a Rootly key"),
    ("samsara_api_", _WORD + "{26,32}", "samsara_token", "a Samsara token"),
    ("sbp_", _DIGIT + "[0-9a-z_-]{40}", "supabase_token", "a Supabase token"),
    ("sgp_", _WORD + "{64}", "segment_token", "a Segment token"),
    ("KEY", "(?=[A-Za-z_-]{0,20}[0-9])(?=[0-9A-Z_-]{0,50}[a-z])" + _ID + "{55}", "telnyx_key", "a Telnyx key"),
    *(
        (lead, r"eyJ[\w-]{8,300}\.[\w-]{16,2000}\.[\w-]{64,1000}", "workato_token", "a Workato token")
        for lead in ("wrka-", "wrkaus-", "wrkaeu-", "wrkajp-", "wrkasg-", "wrkaau-", "wrkail-", "wrkabf-")
    ),
)
