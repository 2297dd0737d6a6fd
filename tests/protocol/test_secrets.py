"""Secrets in a text: a sample of every kind, in code, in an environment file and in JSON; and code, which has none.

The samples are made up here, by the forms that providers publish, and joined from pieces: no scanner finds one in this
file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from aurora_protocol.secret_mask import RULES, blanked, masked
from aurora_protocol.secret_shapes import SERVICES, SHAPES
from aurora_protocol.secrets import secrets_in, service_keys_in, tokens_in
from tests.protocol.stand_ins import CHOSEN
from tests.shares import examples

HEX = "3f9a0c7be1d25846" * 20
LOW = "k7q2m9x4v1t8b3n6p5r0" * 20
MIX = "aB3dE7gH1jK5mN9pQ2sT6vX0zL4wR8yC" * 40
UP = "Q7WE2RT9YU4OP1AS6DF3GH8JK5" * 10
NUM = "4820917365" * 10
B32 = "k7q2m5x4v6t3b3n6p5r2" * 20
SEED = "zebra ivory lemon tiger ocean piano river salad tulip umbra venom wagon"
UUID = "3f9a0c7b-e1d2-5846-9a0c-7be1d2584613"

SAMPLES: dict[str, tuple[str, ...]] = {
    "1password_key": (f"A3-{UP[:6]}-{UP[:11]}-{UP[:5]}-{UP[3:8]}-{UP[5:10]}",),
    "1password_token": (f"ops_eyJ{MIX[:260]}",),
    "adafruit_key": (f"aio_{MIX[:28]}",),
    "adobe_secret": (f"p8e-{MIX[:32]}",),
    "airtable_token": (f"pat{MIX[:14]}.{HEX[:64]}",),
    "alibaba_key": (f"LTAI{MIX[:20]}",),
    "anthropic_key": (f"sk-ant-api03-{MIX[:93]}AA", f"sk-ant-admin01-{MIX[:93]}AA"),
    "api_key": (f"sk-proj-{MIX[:74]}T3Blbk" f"FJ{MIX[:74]}", f"sk-{MIX[:20]}T3Blbk" f"FJ{MIX[:20]}"),
    "artifactory_key": (f"AKCp{MIX[:69]}",),
    "artifactory_token": (f"cmVmd{MIX[:59]}",),
    "atlassian_token": (f"ATATT3{MIX[:186]}", f"ATCTT3{MIX[:100]}"),
    "authress_key": (f"authress_{MIX[:20]}.{MIX[:5]}.acc-{LOW[:20]}.{MIX[:60]}",),
    "aws_key": (
        *(f"{lead}{UP[:16]}" for lead in ("AKIA", "ASIA", "ABIA", "ACCA", "A3T")),
        f"ABSK{MIX[:120]}",
        f"bedrock-api-key-{MIX[:80]}",
        f"amzn.mws.{UUID}",
    ),
    "azure_key": (
        f"{MIX[:76]}+AStor{MIX[:5]}==",
        f"{MIX[:76]}+ACDb{MIX[:5]}==",
        f"{MIX[:3]}8Q~{MIX[:34]}",
        f"{MIX[:76]}AZDO{MIX[:4]}",
        f"{MIX[:52]}JQQJ99{MIX[:26]}",
    ),
    "bitbucket_token": (f"ATBB{MIX[:32]}",),
    "brevo_key": (f"xkeysib-{HEX[:64]}-{MIX[:16]}",),
    "clickhouse_key": (f"4b1d{MIX[:38]}",),
    "clojars_token": (f"CLOJARS_{LOW[:60]}",),
    "cloudflare_key": (f"v1.0-{HEX[:24]}-{HEX[:146]}",),
    "contentful_token": (f"CFPAT-{MIX[:43]}",),
    "crates_token": (f"cio{MIX[:32]}",),
    "databricks_token": (f"dapi{HEX[:32]}", f"dapi{HEX[:32]}-2"),
    "defined_networking_token": (f"dnkey-{MIX[:26]}-{MIX[:52]}",),
    "digitalocean_token": (f"dop_v1_{HEX[:64]}", f"doo_v1_{HEX[:64]}", f"dor_v1_{HEX[:64]}"),
    "discord_token": (f"M{MIX[:23]}.{MIX[:6]}.{MIX[:27]}",),
    "docker_token": (f"dckr_pat_{MIX[:27]}",),
    "doppler_token": (f"dp.pt.{MIX[:43]}", f"dp.st.dev.{MIX[:40]}"),
    "dropbox_token": (f"sl.{MIX[:136]}",),
    "duffel_token": (f"duffel_live_{MIX[:43]}",),
    "dynatrace_token": (f"dt0c01.{UP[:24]}.{MIX[:64]}",),
    "easypost_key": (f"EZAK{MIX[:54]}", f"EZTK{MIX[:54]}"),
    "facebook_token": (f"{NUM[:16]}|{MIX[:27]}", f"{NUM[:15]}%7C{MIX[:27]}",
        f"EAAC{MIX[:120]}", f"EAAh{MIX[:120]}"),
    "figma_token": (f"figd_{MIX[:40]}",),
    "flutterwave_key": (f"FLWSECK_TEST-{HEX[:12]}", f"FLWSECK_TEST-{HEX[:32]}-X", f"FLWPUBK_TEST-{HEX[:32]}-X"),
    "flyio_token": (f"fo1_{MIX[:43]}", f"fm1a_{MIX[:120]}", f"fm1r_{MIX[:120]}", f"fm2_{MIX[:120]}"),
    "frameio_token": (f"fio-u-{MIX[:64]}",),
    "github_token": (
        *(f"gh{letter}_{MIX[:36]}" for letter in "pousr"),
        f"github_pat_{MIX[:22]}_{MIX[:59]}",
    ),
    "gitlab_token": (
        *(f"gl{which}-{MIX[:20]}" for which in
            ("pat", "ptt", "dt", "rt", "rtr", "ft", "soat", "ffct", "cbt", "imt", "agent", "oas")),
        f"GR13489" f"41{MIX[:20]}",
    ),
    "gocardless_token": (f"live_{MIX[:40]}",),
    "google_key": (f"AIza{MIX[:35]}", f"GOCSPX-{MIX[:28]}", f"{MIX[:22]}:APA91b{MIX[:134]}"),
    "google_token": (f"ya29.{MIX[:60]}", f"1//0{MIX[:60]}"),
    "grafana_token": (f"glc_{MIX[:60]}", f"glsa_{MIX[:32]}_{HEX[:8]}", f"eyJrIjoi{MIX[:80]}"),
    "groq_key": (f"gsk_{MIX[:52]}",),
    "harness_key": (f"pat.{MIX[:22]}.{MIX[:24]}.{MIX[:20]}",),
    "heroku_key": (f"HRKU-AA{MIX[:58]}",),
    "hubspot_token": (f"pat-na1-{UUID}", f"pat-eu1-{UUID}"),
    "hugging_face_token": ("hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH",
        "hf_" + "lrngfxkgimgmbpavsrpqacsgsewoqofpph", f"api_org_{MIX[:34]}"),
    "infracost_key": (f"ico-{MIX[:32]}",),
    "intra42_secret": (f"s-s4t2ud-{HEX[:64]}",),
    "jwt": (f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{MIX[:43]}", f"ZXlKaGJHY2lPaUpJVX{MIX[:70]}"),
    "langsmith_key": (f"lsv2_pt_{HEX[:32]}_{HEX[:10]}", f"lsv2_sk_{HEX[:32]}_{HEX[:10]}"),
    "linear_key": (f"lin_api_{MIX[:40]}", f"lin_oauth_{MIX[:60]}"),
    "lob_key": (f"live_{HEX[:35]}", f"test_{HEX[:35]}", f"live_pub_{HEX[:31]}", f"test_pub_{HEX[:31]}"),
    "mailchimp_key": (f"{HEX[:32]}-us20",),
    "mailgun_key": (f"key-{HEX[:32]}", f"pubkey-{HEX[:32]}"),
    "mapbox_token": (f"pk.{LOW[:60]}.{LOW[:22]}", f"pk.eyJ{MIX[:60]}.{MIX[:22]}",),
    "maxmind_key": (f"{MIX[:6]}_{MIX[:29]}_mmk",),
    "netlify_token": (f"nfp_{MIX[:36]}",),
    "new_relic_key": (f"NRAK-{UP[:27]}", f"NRJS-{HEX[:19]}", f"NRII-{MIX[:32]}", f"{HEX[:36]}NRAL"),
    "notion_token": (f"ntn_{NUM[:11]}{MIX[:35]}", f"secret_{MIX[:43]}"),
    "npm_token": (f"npm_{MIX[:36]}",),
    "nuget_key": (f"oy2{LOW[:43]}",),
    "nvidia_key": (f"nvapi-{MIX[:64]}",),
    "octopus_key": (f"API-{UP[:26]}",),
    "openshift_token": (f"sha256~{MIX[:43]}",),
    "paypal_token": (f"access_token$production${LOW[:16]}${HEX[:32]}",),
    "perplexity_key": (f"pplx-{MIX[:48]}",),
    "plaid_token": (f"access-sandbox-{UUID}",),
    "planetscale_token": (f"pscale_tkn_{MIX[:43]}", f"pscale_pw_{MIX[:43]}", f"pscale_oauth_{MIX[:43]}"),
    "postman_key": (f"PMAK-{HEX[:24]}-{HEX[:34]}",),
    "prefect_token": (f"pnu_{MIX[:36]}",),
    "private_key": (f"LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ{MIX[:200]}==", f"AGE-SECRET-KEY-1{UP[:58]}",),
    "pulumi_token": (f"pul-{HEX[:40]}",),
    "pypi_token": (f"pypi-AgEIcHlwaS5vcmc{MIX[:70]}",),
    "readme_key": (f"rdme_{LOW[:70]}",),
    "render_key": (f"rnd_{MIX[:32]}",),
    "replicate_token": (f"r8_{MIX[:37]}",),
    "rubygems_key": (f"rubygems_{HEX[:48]}",),
    "scalingo_token": (f"tk-us-{MIX[:48]}",),
    "sendgrid_key": (f"SG.{LOW[:66]}", f"SG.{MIX[:22]}.{MIX[:43]}",),
    "sentry_token": (f"sntryu_{HEX[:64]}", f"sntrys_eyJpYXQiO{MIX[:60]}LCJyZWdpb25fdXJs{MIX[:20]}_{MIX[:43]}"),
    "settlemint_token": tuple(f"sm_{which}_{MIX[:16]}" for which in ("aat", "pat", "sat")),
    "shippo_token": (f"shippo_live_{HEX[:40]}",),
    "shopify_token": tuple(f"shp{which}_{HEX[:32]}" for which in ("at", "ca", "pa", "ss")),
    "slack_token": (
        f"xoxb-{NUM[:12]}-{NUM[:12]}",
        f"xoxb-{NUM[:12]}-{NUM[:12]}-{MIX[:24]}",
        f"xoxe.xoxp-1-{UP[:163]}".removeprefix("xoxe."),
        f"hooks.slack.com/services/T{UP[:8]}/B{UP[:8]}/{MIX[:24]}",
        f"xapp-1-{UP[:11]}-{NUM[:13]}-{HEX[:64]}",
    ),
    "sonar_token": tuple(f"sq{which}_{HEX[:40]}" for which in "pua"),
    "sourcegraph_token": (f"sgp_{HEX[:16]}_{HEX[:40]}", f"sgp_{HEX[:40]}"),
    "square_token": (f"sq0atp-{MIX[:22]}", f"sq0csp-{MIX[:43]}", f"EAAA{MIX[:60]}"),
    "stripe_key": (f"sk_live_{MIX[:24]}", f"rk_test_{MIX[:24]}", f"sk_prod_{MIX[:24]}", f"whsec_{MIX[:32]}"),
    "supabase_token": (f"sbp_{HEX[:40]}", f"sb_secret_{MIX[:31]}"),
    "telegram_token": (f"{NUM[:10]}:AA{MIX[:33]}",),
    "tencent_key": (f"AKID{MIX[:32]}",),
    "terraform_token": (f"{MIX[:14]}.atlasv1.{MIX[:67]}",),
    "twilio_key": (f"SK{HEX[:32].upper()}", f"SK{HEX[:32]}",),
    "typeform_token": (f"tfp_{MIX[:44]}",),
    "vault_token": (f"s.{LOW[:24]}", f"hvs.{MIX[:95]}", f"hvb.{MIX[:140]}", f"hvr.{MIX[:100]}", f"s.{MIX[:24]}"),
    "webhook": (
        f"discord.com/api/webhooks/{NUM[:18]}/{MIX[:68]}",
        f"webhook.office.com/webhookb2/{UUID}@{UUID}/IncomingWebhook/{HEX[:32]}/{UUID}",
    ),
    "xai_key": (f"xai-{MIX[:80]}",),
    "yandex_key": (f"AQVN{MIX[:36]}", f"YCAJ{MIX[:21]}", f"t1.9eu{MIX[:90]}.{MIX[:86]}"),
}  # fmt: skip
SAMPLES |= {
    "aikido_key": (f"AIK_CI_{MIX[:40]}", f"AIK_CLIENT_{MIX[:24]}", f"AIK_SECRET_{MIX[:64]}"),
    "alibaba_key": (*SAMPLES["alibaba_key"], f"STS.{MIX[:40]}"),
    "alibaba_token": (f"CAIS{MIX[:90]}",),
    "apify_token": (f"apify_api_{MIX[:36]}",),
    "asaas_token": (f"$aact_prod_{MIX[:60]}",),
    "astra_token": (f"AstraCS:{MIX[:24]}:{HEX[:64]}",),
    "brave_key": (f"BSA{MIX[:28]}",),
    "buildkite_token": (f"bkua_{LOW[:40]}", f"bkpat_{MIX[:54]}"),
    "canva_secret": (f"cnvca{MIX[:51]}",),
    "cerebras_key": (f"csk-{LOW[:48]}",),
    "checkout_key": (f"sk_{UUID}", f"sk_test_{UUID}"),
    "circleci_token": (f"CCIPAT_{MIX[:22]}_{HEX[:40]}", f"CCIPRJ_{MIX[:22]}_{HEX[:40]}"),
    "clickup_token": (f"pk_{NUM[:8]}_{UP[:32]}",),
    "cloudsmith_key": (f"csa_{HEX[:30]}{MIX[:6]}",),
    "cockroach_key": (f"CCDB1_{MIX[:22]}_{MIX[:40]}",),
    "configcat_key": (f"configcat-sdk-1/{MIX[:22]}/{MIX[:22]}",),
    "cursor_key": (f"key_{HEX[:64]}",),
    "databento_key": (f"db-{MIX[:29]}",),
    "deno_token": (f"ddp_{MIX[:36]}",),
    "devcycle_key": tuple(f"dvc_{which}_{MIX[:20]}" for which in ("client", "mobile", "server")),
    "devin_key": (f"apk_{MIX[:90]}", f"apk_user_{MIX[:140]}=="),
    "devin_token": (f"cog_{B32[:52]}",),
    "docker_key": (f"SWMKEY-1-{MIX[:43]}",),
    "docker_token": (*SAMPLES["docker_token"], f"dckr_oat_{MIX[:32]}", f"SWMTKN-1-{LOW[:50]}-{LOW[:25]}"),
    "e2b_key": (f"e2b_{HEX[:40]}",),
    "ebay_secret": (f"PRD-{UUID[:-8]}",),
    "elastic_key": (f"essu_{MIX[:80]}==",),
    "elevenlabs_key": (f"sk_{HEX[:48]}",),
    "endorlabs_key": (f"endr+{MIX[:16]}",),
    "exoscale_key": (f"EXO{HEX[:24]}",),
    "flyio_token": (*SAMPLES["flyio_token"], f"FlyV1 fm2_{MIX[:120]},fm2_{MIX[:120]}"),
    "google_key": (*SAMPLES["google_key"], f"AQ.Ab8RN6{MIX[:44]}"),
    "ionic_token": (f"ion_{MIX[:42]}",),
    "jina_key": (f"jina_{HEX[:32]}{MIX[:28]}",),
    "klaviyo_key": (f"pk_{LOW[:34]}",),
    "lichess_token": (f"lip_{MIX[:20]}",),
    "mailersend_token": (f"mlsn.{HEX[:64]}",),
    "mercury_token": (f"mercury_production_rma_{MIX[:44]}_yrucrem",),
    "mergify_key": (f"mergify_application_key_{MIX[:60]}",),
    "midtrans_key": (f"Mid-server-{MIX[:24]}", f"Mid-client-{MIX[:16]}"),
    "mongodb_secret": (f"mdb_sa_sk_{MIX[:40]}",),
    "neon_key": (f"napi_{MIX[:64]}",),
    "notify_key": (f"gcntfy-name-{UUID}-{UUID}",),
    "onesignal_key": (f"os_v2_app_{B32[:103]}", f"os_v2_org_{B32[:103]}"),
    "onfido_token": tuple(f"api_live{land}.{MIX[:44]}" for land in ("", "_ca", "_us")),
    "paddle_key": (f"pdl_live_apikey_{LOW[:26]}_{MIX[:22]}_{MIX[:3]}",),
    "persona_key": (f"persona_production_{UUID}",),
    "pinecone_key": (f"pcsk_{MIX[:6]}_{MIX[:63]}",),
    "pinterest_token": (f"pina_{UP[:60]}",),
    "polar_token": (f"polar_oat_{MIX[:40]}", f"polar_at_u_{MIX[:40]}", f"polar_pat_{MIX[:40]}"),
    "posthog_key": (f"phc_{MIX[:43]}", f"phx_{MIX[:47]}"),
    "proof_key": (f"prf_{MIX[:40]}", f"prf_cli_{MIX[:40]}"),
    "rainforest_key": (f"apikey_{HEX[:64]}",),
    "ramp_key": (f"ramp_id_{MIX[:40]}", f"ramp_sec_{MIX[:48]}"),
    "resend_key": (f"re_{MIX[:8]}_{MIX[:24]}",),
    "rootly_key": (f"rootly_{HEX[:64]}",),
    "runpod_key": (f"rpa_{UP[:40]}{LOW[:6]}", f"rpa_{MIX[:30]}"),
    "samsara_token": (f"samsara_api_{MIX[:30]}",),
    "segment_token": (f"sgp_{MIX[:64]}",),
    "slack_token": (*SAMPLES["slack_token"], f"xoxd-{MIX[:60]}%2B{MIX[:40]}%3D"),
    "tailscale_key": (f"tskey-api-{MIX[:14]}-{MIX[:32]}", f"tskey-auth-{MIX[:14]}-{MIX[:32]}"),
    "tavily_key": (f"tvly-{MIX[:32]}", f"tvly-dev-{MIX[:32]}"),
    "telnyx_key": (f"KEY{UP[:32]}_{MIX[:22]}",),
    "thunderstore_token": (f"tss_{MIX[:40]}",),
    "together_key": (f"tgp_v1_{MIX[:43]}",),
    "twitter_token": (f"{'A' * 22}{MIX[:60]}%2B{MIX[:27]}",),
    "unkey_key": (f"unkey_{MIX[:24]}",),
    "upcloud_token": (f"ucat_{UP[:26]}",),
    "valtown_token": (f"vtwn_{MIX[:40]}",),
    "vercel_token": tuple(f"vc{which}_{MIX[:56]}" for which in "aciprk"),
    "wakatime_key": (f"waka_{UUID}",),
    "wandb_key": (f"wandb_v1_{MIX[:77]}",),
    "workato_token": tuple(f"wrka{land}-eyJhbGciOi{MIX[:20]}.{MIX[:40]}.{MIX[:86]}"
        for land in ("", "us", "eu", "jp", "sg", "au", "il", "bf")),
    "workos_key": (f"sk_live_a2V5Xz{MIX[:69]}",),
    "xai_key": (*SAMPLES["xai_key"], f"xai-{MIX[:40]}_{MIX[:40]}"),
    "yandex_key": (*SAMPLES["yandex_key"][:2], f"t1.9eu{MIX[:90]}", f"t1.{MIX[:60]}.{MIX[:86]}"),
    "zuplo_key": (f"zpka_{LOW[:32]}_{HEX[:8]}",),
}  # fmt: skip
SAMPLES |= {
    "asana_token": (f"2/12{NUM[:14]}/12{NUM[:14]}:{HEX[:32]}",),
    "axiom_token": (f"xaat-{UUID}", f"xapt-{UUID}"),
    "cloudflare_token": (f"eyJhIjoi{MIX[:150]}",),
    "digitalocean_key": (f"DO00{UP[:16]}",),
    "firecrawl_key": (f"fc-{HEX[:32]}",),
    "fireworks_key": (f"fw_{MIX[:24]}",),
    "honeycomb_key": tuple(f"hc{which}k_01{LOW[:56]}" for which in ("ai", "xi", "am")),
    "infisical_token": (f"st.{UUID}.{HEX[:32]}.{HEX[:32]}",),
    "intercom_token": (f"dG9rO{MIX[:55]}=",),
    "jsr_token": tuple(f"jsr{which}_{MIX[:43]}" for which in "tpd"),
    "launchdarkly_key": (f"sdk-{UUID}", f"mob-{UUID}"),
    "mandrill_key": (f"md-{MIX[:22]}",),
    "matrix_token": (f"syt_YW5ubGVl_{MIX[:20]}_{MIX[:6]}",),
    "mercadopago_token": (f"APP_USR-{NUM[:16]}-{NUM[:6]}-{HEX[:32]}-{NUM[:9]}",),
    "mollie_key": (f"live_{MIX[:30]}", f"test_{MIX[:30]}"),
    "nostr_key": (f"nsec1{'qp7zr9y8xg2f' * 5}"[:63],),
    "omise_key": (f"skey_{LOW[:19]}", f"skey_test_{LOW[:19]}"),
    "packagist_token": (f"packagist_ort_{HEX[:68]}",),
    "razorpay_key": (f"rzp_live_{MIX[:14]}", f"rzp_test_{MIX[:14]}"),
    "random_string": (
        MIX[:24], f"{MIX[:50]}+/{MIX[:34]}==", "qWx7RtY-9KmLpZ_3nBvC5dFgH1jKs8T", "k7q2m9x4v1t8b3n6p5r0k7q2m9x4"
    ),
    "scaleway_key": (f"SCW{UP[:17]}",),
    "smtp2go_key": (f"api-{HEX[:32].upper()}",),
    "trello_token": (f"ATTA{HEX[:64]}{HEX[:8].upper()}",),
    "voyage_key": (f"pa-{MIX[:43]}",),
    "wallet_key": (f"xprv{('9s21ZrQH143K3' * 10)[:107]}",),
    "woocommerce_key": (f"ck_{HEX[:40]}", f"cs_{HEX[:40]}"),
    "xata_key": (f"xau_{MIX[:43]}",),
    "xendit_key": (f"xnd_production_{MIX[:64]}",),
}  # fmt: skip
ALL = [(kind, sample) for kind, samples in SAMPLES.items() for sample in samples]


def samples_in(kind: str, *places: str) -> Iterator[tuple[str, str]]:
    """Each sample of a kind with texts around it: all of the places, or in `make test` two of them in turn."""
    for sample in SAMPLES[kind]:
        first = ALL.index((kind, sample)) % len(places)
        for around in (*places[first:], *places[:first])[: examples(8)]:
            yield sample, around.format(sample)


@pytest.mark.hypothesis
@pytest.mark.parametrize("kind", SAMPLES)
def test_samples_of_every_kind_are_found_whole(kind: str) -> None:
    places = ('client = Client("{}")', "export X={}\n", '{{"x": "{}", "y": 1}}', "see {} there", "{}")
    for sample, text in samples_in(kind, *places):
        found = secrets_in(text)
        assert [(each.kind, text[each.start : each.end]) for each in found] == [(kind, sample)], text


@pytest.mark.hypothesis
@pytest.mark.parametrize("kind", SAMPLES)
def test_samples_of_every_kind_are_masked_in_prose(kind: str) -> None:
    for sample, text in samples_in(kind, "It is {}.", "({})", "[{}]", "`{}`, then", "{}\r\n"):
        assert sample not in masked(text), text
        source = blanked(text.encode())
        assert sample.encode() not in source and len(source) == len(text), text


CONTEXTS: dict[str, tuple[str, str]] = {
    "an Azure connection string": (
        f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={MIX[:86]}==;EndpointSuffix=x",
        f"{MIX[:86]}==",
    ),
    "a service bus": (f"Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey={MIX[:43]}=", f"{MIX[:43]}="),
    "Sidekiq's gems": ('export BUNDLE_ENTERPRISE__CONTRIBSYS__COM="cafe12ab:34dead56"', "cafe12ab:34dead56"),
    "a password in .netrc": ("machine api.example.com login ann password hunter2", "hunter2"),
    "curl's user": ("curl -s -u ann:hunter2x https://x/", "hunter2x"),
    "docker's login": ('{"auths": {"x": {"auth": "YW5uOmh1bnRlcjI="}}}', "YW5uOmh1bnRlcjI="),
    "a kubeconfig": (f"    client-key-data: {MIX[:200]}\n", MIX[:200]),
    "WireGuard": (f"[Interface]\nPrivateKey = {MIX[:43]}=\n", f"{MIX[:43]}="),
    "NuGet's file": ('<add key="ClearTextPassword" value="hunter2x" />', "hunter2x"),
    "GitLab's session": (f"Cookie: _gitlab_session={LOW[:32]}", LOW[:32]),
    "Datadog": (f'DATADOG_APP = "{LOW[:40]}"', LOW[:40]),
    "a key before a tag": (f"<p>DD_API_KEY={HEX[:32]}</p>", HEX[:32]),
    "Heroku": (f"HEROKU_X={UUID}", UUID),
    "Algolia": (f"algolia: '{LOW[:32]}',", LOW[:32]),
    "Kubernetes": (f"apiVersion: v1\nkind: Secret\ndata:\n  who: {MIX[:24]}==\nother: x\n", f"{MIX[:24]}=="),
    "Beamer": (f"BEAMER_API=b_{LOW[:44]}\n", f"b_{LOW[:44]}"),
    "Mistral": (f'mistral = process.env.MISTRAL || "{MIX[:32]}"', MIX[:32]),
    "a default of an environment": ("key = os.getenv('SECRET_KEY', 'dj4ng0-1ns3cure-x9')", "dj4ng0-1ns3cure-x9"),
    "a default in JavaScript": ("const k = process.env.JWT_SECRET || 'mY5uperS3cret'", "mY5uperS3cret"),
    "a default in Python": ('k = os.environ.get("API_KEY") or "a8f3k2l9x0"', "a8f3k2l9x0"),
    "a Makefile": (f"API_KEY ?= {LOW[:24]}\n", LOW[:24]),
    "an npm registry": (f"//registry.npmjs.org/:_authToken={UUID}", UUID),
    "IBM Cloud": (f"ibm_cloud_iam = '{MIX[:44]}'", MIX[:44]),
    "a token in an address": (f"https://x/feed?token={MIX[:22]}", MIX[:22]),
    "a token of letters in an address": ("https://x/feed?token=qWxRtYbNmKpLsDfGhJzX", "qWxRtYbNmKpLsDfGhJzX"),
    "a password of letters in an address": ("https://x/feed?password=correcthorse", "correcthorse"),
    "a login in a header": ("Authorization: Basic YW5uOmh1bnRlcngh", "YW5uOmh1bnRlcngh"),
    "a token in a header": ("Authorization: Token qWxRtYbNm", "qWxRtYbNm"),
    "a short password of a database": ("postgres://ann:pw1@db/x", "ann:pw1"),
    "a password of a database": ("postgres://ann:hunter2@db/x", "ann:hunter2"),
    "Laravel": (f"APP_KEY=base64:{MIX[:43]}=\n", f"base64:{MIX[:43]}="),
    "WordPress": (f"define( 'LOGGED_IN_KEY',   '{MIX[:20]}:u^-,<hM5vreQ|8/eU' );", f"{MIX[:20]}:u^-,<hM5vreQ|8/eU"),
    "sshpass": ("sshpass -p 'hunter2x' ssh ann@x", "hunter2x"),
    "MySQL's password of letters": ("mysql -u root -pBvplqMUpObstbr shop", "BvplqMUpObstbr"),
    "MySQL's password": ("mysqldump -u root -phunter2x shop", "hunter2x"),
    "a session's cookie": (f"Cookie: theme=dark; sessionid={LOW[:32]}; a=b", LOW[:32]),
    "a signing key": (f'jwt.sign(payload, "{MIX[:32]}")', MIX[:32]),
    "a signing key of Python": (f"jwt.decode(token, '{LOW[:20]}', algorithms=['HS256'])", LOW[:20]),
    "a short name of a password": ("DB_PASS=Gk29vmQ1x\n", "Gk29vmQ1x"),
    "a mail server's password": ("auth: { user: 'ann', pass: 'oHA1Xq4RcWQ7' }", "oHA1Xq4RcWQ7"),
    "a connection string": ("Server=db;Uid=ann;Pwd=6EKuvJj0tUq74;Database=x", "6EKuvJj0tUq74"),
    "a password in camel case": ("smtpPass = 'oHA1Xq4RcWQ7'", "oHA1Xq4RcWQ7"),
    "an element of XML": ("<username>ann</username><password>rI6XSM4X1LPt9</password>", "rI6XSM4X1LPt9"),
    "a text of three quotes in JSON": ('{"x": "password = \\"\\"\\"h0MLestQqK3\\"\\"\\""}', "h0MLestQqK3"),
    "a seed of one-time passwords": (
        "TOTP_SEED = 'QFE4EEMZJ263KBFIVFVETVITIXAAMZ6X'",
        "QFE4EEMZJ263KBFIVFVETVITIXAAMZ6X",
    ),
    "bytes": ("app.secret_key = b'ptewcjpyupfzpclqmvkmam54'", "ptewcjpyupfzpclqmvkmam54"),
    "a verbatim text of C#": ('Password = @"hunter2xyz"', "hunter2xyz"),
    "a text of three quotes": ('admin_password = """h0MLestQqK3Urqs81"""', "h0MLestQqK3Urqs81"),
    "a line that goes on in JSON": (f'"[x]\\nsecret_key = {LOW[:30]}\\nregion = eu"', LOW[:30]),
    "a long token": (f"export AWS_SESSION_TOKEN='{MIX[:600]}'", MIX[:600]),
    "MySQL's user": ("CREATE USER 'ann'@'%' IDENTIFIED BY 'jxgD7O6F3rrS3';", "jxgD7O6F3rrS3"),
    "MySQL's user in small letters": ("create user ann identified by 'jxgD7O6F3rrS3';", "jxgD7O6F3rrS3"),
    "PostgreSQL's role": ("ALTER ROLE ann WITH LOGIN PASSWORD 'WPwQVwNKb10w3';", "WPwQVwNKb10w3"),
    "Redis's settings": ("requirepass 3HHpd1CRNNZVJq3I3\n", "3HHpd1CRNNZVJq3I3"),
    "Redis's shell": ("redis-cli -h cache -a lywcFWH6hup8 ping", "lywcFWH6hup8"),
    ".pgpass": ("db.example.com:5432:shop:ann:z0oksStcN\n", "z0oksStcN"),
    ".pgpass with any port": ("db.example.com:*:*:ann:z0oksStcN\n", "z0oksStcN"),
    "OpenSSL's option": ("openssl enc -aes-256-cbc -pass pass:dDSBmSaCZ -in x", "dDSBmSaCZ"),
    "a registry's login": ("docker login -u ann -p eTFKYi0sf registry.example.com", "eTFKYi0sf"),
    "podman's login": ("podman login -u ann -p eTFKYi0sf registry.example.com", "eTFKYi0sf"),
    "helm's login": ("helm registry login -u ann -p eTFKYi0sf registry.example.com", "eTFKYi0sf"),
    "Azure's login": ("az login --service-principal -u x -p eTFKYi0sf --tenant y", "eTFKYi0sf"),
    "OpenShift's login": ("oc login https://x -u ann -p eTFKYi0sf", "eTFKYi0sf"),
    "htpasswd": ("htpasswd -bc .htpasswd ann bXoJ04RWd", "bXoJ04RWd"),
    "a router's password": ("line vty 0 4\n password 7 0822455D0A16544541\n", "0822455D0A16544541"),
    "a peer of WireGuard": (f"[Peer]\nPresharedKey = {MIX[:43]}=\n", f"{MIX[:43]}="),
    "OpenVPN": (
        f"-----BEGIN OpenVPN Static key V1-----\n{HEX[:32]}\n{HEX[:32]}\n-----END OpenVPN Static key V1-----",
        f"\n{HEX[:32]}\n{HEX[:32]}",
    ),
    "a private key of JOSE": (f'{{"kty":"EC","crv":"P-256","d":"{MIX[:43]}"}}', MIX[:43]),
    "a secret key of JOSE": ('{"kty":"oct","k":"qwertzuiopasdfghjklyxcvbnm"}', "qwertzuiopasdfghjklyxcvbnm"),
    "Infura": (f"https://mainnet.infura.io/v3/{HEX[:32]}", HEX[:32]),
    "a path that is a key": (f"https://eth.g.alchemy.com/v2/{MIX[:32]}", MIX[:32]),
    "Rails": (f"RAILS_MASTER_KEY={HEX[:32]}\n", HEX[:32]),
    "a key of a subscription": (f"Ocp-Apim-Subscription-Key: {HEX[:32]}", HEX[:32]),
    "a short key": (f"cipher_key = '{MIX[:16]}'", MIX[:16]),
    "a login in code": ('headers["Authorization"] = "Basic YW5uOmJGdVNWZkVX"', "YW5uOmJGdVNWZkVX"),
    "a scheme of its own": (f"Authorization: Splunk {UUID}", UUID),
    "a variable of Terraform": ('variable "db_password" {\n  default = "nRfXBkg8Qys7"\n}', "nRfXBkg8Qys7"),
    "an image's environment": ("ENV MYSQL_ROOT_PASSWORD 2qs353f2Huu3\n", "2qs353f2Huu3"),
    "a login of requests": ("requests.get(url, auth=('ann', 'Hb2U9LhOS0i4'))", "Hb2U9LhOS0i4"),
    "a login of Go": ('req.SetBasicAuth("ann", "f4StfxDPNV20")', "f4StfxDPNV20"),
    "a login of Go in JSON": ('{"x": "req.SetBasicAuth(\\"ann\\", \\"f4StfxDPNV20\\")"}', "f4StfxDPNV20"),
    "a connection of Java": ('DriverManager.getConnection(url, "ann", "dCV1jFzYI201")', "dCV1jFzYI201"),
    "a connection of PHP": ("new mysqli('db', 'ann', 'BahcyXic6YO4', 'shop')", "BahcyXic6YO4"),
    "an older connection of PHP": ("mysql_connect('db', 'ann', 'BahcyXic6YO4')", "BahcyXic6YO4"),
    "PHP's PostgreSQL": ("pg_connect($x, 'BahcyXic6YO4')", "BahcyXic6YO4"),
    "a signature of an address": (f"https://b.s3.amazonaws.com/o?X-Amz-Signature={HEX[:64]}", HEX[:64]),
    "an id of an application": (f"https://api.example.org/data?appid={HEX[:32]}", HEX[:32]),
    "a keystore": ("storePassword 'vLNf4gWZuKI4'", "vLNf4gWZuKI4"),
    "a router's community": ("snmp-server community LkBgmrAkRUY3 RO", "LkBgmrAkRUY3"),
    "a wireless network": ('network={\n  psk="8kvb2gFbR299"\n}', "8kvb2gFbR299"),
    "chpasswd": ("echo 'ann:cG0mPkJ57eD4' | chpasswd", "cG0mPkJ57eD4"),
    "a user of Windows": ("net user ann 8nhttLdIdxR9 /add", "8nhttLdIdxR9"),
    "PowerShell": ('ConvertTo-SecureString "GZV51aqE3Br7" -AsPlainText -Force', "GZV51aqE3Br7"),
    "a directory's login": ("ldapsearch -x -D cn=admin -w grCOX6Jhw7H0 -b dc=x", "grCOX6Jhw7H0"),
    "lftp": ("lftp -u ann,JXqIEnomef23 ftp.example.com", "JXqIEnomef23"),
    "an archive": ("7z x -pOcVwWBhqG5K7 backup.7z", "OcVwWBhqG5K7"),
    "a wallet's mnemonic": (f'mnemonic = "{SEED}"', SEED),
    **{
        f"a password's hash {form[:5]}": (f"ann:{form}\n", form)
        for form in (
            f"$apr1${MIX[:8]}${MIX[:22]}",
            *(f"$2{kind}$12${MIX[:53]}" for kind in "aby"),
            f"$1${MIX[:8]}${MIX[:22]}",
            f"$y$j9T${MIX[:22]}${MIX[:43]}",
            f"$argon2id$v=19$m=65536,t=3,p=4${MIX[:22]}${MIX[:43]}",
            f"pbkdf2_sha256$600000${MIX[:22]}${MIX[:43]}=",
            f"$5$rounds=5000${MIX[:16]}${MIX[:43]}",
            f"$6${MIX[:8]}${MIX[:86]}",
        )
    },
}


@pytest.mark.parametrize("name", CONTEXTS)
def test_what_has_no_form_of_its_own_is_known_by_what_stands_beside_it(name: str) -> None:
    text, secret = CONTEXTS[name]
    assert [text[each.start : each.end] for each in secrets_in(text)] == [secret]


@pytest.mark.parametrize(
    "code",
    [
        'authorization = request.headers.get("Authorization")',
        "const passwordError = actionData?.errors?.password",
        "::: fastapi.security.OAuth2PasswordRequestForm\n\n::: fastapi.security.OAuth2PasswordRequestFormStrict",
        "conn = Connection('amqp://guest:guest@localhost//')",
        "token = read_token_from_environment_variable_or_file()",
        "x = get('token', 'default') or ('password', 'username')",
        "[summary](docblock://query/createApi.ts?token=CreateApiOptions.extractRehydrationInfo)",
        "[overloadSummary](docblock://createReducer.ts?token=createReducer)",
        '"js-tokens@npm:^3.0.0 || ^4.0.0": js-tokens: "npm:^4.0.0"',
        "MyAssembly, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089",
        'client.get("http://a:b@c:29/d")',
        "$ http localhost:8000/1/things authorization:custom-token",
        "define('AUTH_KEY', 'put your unique phrase here');",
        "mysql -u root -p shop",
        "mysqldump -u root -ppassword shop",
        "sshpass -p $PASSWORD ssh ann@x",
        "Set-Cookie: theme=dark; Path=/",
        "jwt.decode(token, 'secret', algorithms=['HS256'])",
        "mnemonic = the words that are said for what is hard to remember when one has to",
        "PREFIXES = ('$2b$', '$6$', '$apr1$')",
        "{ url: '/echo', headers: { authorization: 'Bearer banana' } }",
        'req.Header.Set("Authorization", authorizationHeader)',
        "autoload :HostAuthorization, 'rack/protection/host_authorization'",
        "Authorization: request headers are sent as they are",
        "if x: pass\nbypass = 'route66/main'\nPASS: tests/a-1.test.js",
        "PASS src/a-1.test.js\npass_rate = 1000000\ncwd, pwd = '/home/ann1', '/home/bob22'",
        "List<Token>token1 = new Map<Password>value12",
        'key = "key:bitpos:wrong:args1"',
        "ldapsearch -w filter.conf, 7z x archive.7z, net user ann /add",
        "requests.get(url, auth=(user, password), timeout=30)",
        "the password is asked for; ENV variables, a token 'name' and a 'secret word'",
        "`GHSA-75c5-xw7c-p5pm <https://github.com/jpadilla/pyjwt/security/advisories/GHSA-75c5-xw7c-p5pm>`",
        'io->writeError("Couldn\'t refresh access token: ".$e->getMessage());',
        "$headers[] = 'Authorization: token '.$auth['username'];",
        'req.Header.Set("Authorization", "token "+token)',
        'log("Password: ", passwordOf(user2))',
        "Authorization = DefaultAuthorization;",
        "set_rendering_pass(RenderingPass::SubpixelPass1);",
        "xhr.withCredentials = !!this.options.withCredentials;",
        "var rowTokens = this.$rowTokens1;",
        "let has_token = !self.token.is_empty;",
        "var b64Pwd string\nuser = User{\n\tPassword: b64Pwd,\n}",
        "const u8 *hashed2Pass;\nlogin(password=hashed2Pass)",
    ],
)
def test_code_that_speaks_of_secrets_has_none(code: str) -> None:
    assert masked(code) == code


@pytest.mark.parametrize("sign", [".", "+", " + ", ", ", ";", ")", " << ", " & "])
@pytest.mark.parametrize("quote", ["'", '"', "`"])
def test_code_behind_a_text_that_speaks_of_secrets_is_none(quote: str, sign: str) -> None:
    assert masked(f"f({quote}the token: {quote}{sign}Word2Of") == f"f({quote}the token: {quote}{sign}Word2Of"
    assert masked(f"f(token={quote}{sign}Word2Of{quote})") != f"f(token={quote}{sign}Word2Of{quote})"


@pytest.mark.parametrize(
    "declared", ["var {} T", "let {}", "const T &{}", "val {}", "auto {}", "static T* {}", "string {}"]
)
def test_the_name_of_a_variable_is_no_password(declared: str) -> None:
    assert masked(f"password: other1Pwd\n{declared.format('other1Pwd')} = f()\n").startswith("password: other1Pwd\n")
    assert not masked(f"password: other1Pwd\n{declared.format('another1Pwd')} = f()\n").startswith("password: other1")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        pytest.param('("machine a.example login ann password hunt2",),', "hunt2", id="up to the quote of its text"),
        pytest.param('("machine a.example login ann password hunt2\\n")', "hunt2", id="or to a line's end in it"),
        pytest.param('machine a.example login ann password hu"nt2', 'hu"nt2', id="a quote in it is its own"),
        pytest.param('{"token": "+Ab12cd34"}', "+Ab12cd34", id="behind a quote that begins a text"),
        pytest.param("we don't know 'password': '+Ab12cd34'", "+Ab12cd34", id="an apostrophe begins none"),
        pytest.param('"{\\"token\\": \\".Ab12cd34\\"}"', ".Ab12cd34", id="nor what is in a text"),
        pytest.param('say "password: "Ab12cd34', "Ab12cd34", id="behind one that ends it, but no code"),
        pytest.param("Password: b64Pwd,", "b64Pwd", id="a word that nothing declares"),
        pytest.param("the b64Pwd\nPassword: b64Pwd,", "b64Pwd", id="said before, and not declared"),
        pytest.param("Authorization: DefaultAuthorization", "DefaultAuthorization", id="a header's value of words"),
        pytest.param("AUTHORIZATION=correctHorseBattery", "correctHorseBattery", id="or in the environment"),
        pytest.param("AUTHORIZATION=qWxRtYbNm", "qWxRtYbNm", id="assigned, and of no words"),
        pytest.param("Pass: Second12", "Second12", id="a colon is no path"),
        pytest.param("Pass::2Second", "2Second", id="nor do two lead to a number"),
    ],
)
def test_a_password_goes_whole_and_nothing_around_it(text: str, secret: str) -> None:
    assert [(each.start, text[each.start : each.end]) for each in secrets_in(text)] == [(text.rfind(secret), secret)]


@pytest.mark.parametrize(
    "sample",
    [
        "SG." + f"{MIX[:11]}_xXajlClkdT"[:22] + f".{MIX[:43]}",
        "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",
        "glpat-scfe-HnrfGtoZDAoOrqo",
        "sk_live_DiJbwLWLmqvpYWYnakhQUEBT",
    ],
)
def test_a_key_of_letters_only_is_known_by_its_lead(sample: str) -> None:
    """Letters at random have a digit mostly, and not always: of what has a lead of its own nothing else is asked."""
    assert sample not in masked(f"see {sample} there")


def test_every_shape_has_a_sample() -> None:
    """A row of the table that nothing above is found by is one that nobody has tried."""
    texts = [sample for _, sample in ALL] + [text for text, _ in (CONTEXTS | CHOSEN).values()]
    texts += ["-----BEGIN PRIVATE KEY-----", f"Private-Lines: 1\n{MIX[:64]}", f"Authorization: Bearer {MIX[:30]}"]
    untried = {shape.lead for shape in SHAPES if not any(re.search(shape.pattern, text) for text in texts)}
    assert untried == set()


@pytest.mark.parametrize("room", ["memory", "indexer", "orchestration", "protocol", "schemas", "server"])
def test_our_own_code_has_no_secret(room: str) -> None:
    """What is taken for one without being one would be missing from recall: nothing in 79,000 lines is."""
    folder = Path(__file__).parents[2] / room
    found = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text()
        found += [text[each.start : each.end][:80] for each in (*tokens_in(text), *service_keys_in(text))]
    assert [each for each in found if "EXAMPLE" not in each] == []


def test_other_shapes_have_another_number() -> None:
    """Memory files are gone through anew when the number is another: raise `RULES` and put the new digest here."""
    told = repr((SHAPES, SERVICES)).encode()
    assert (RULES, hashlib.blake2b(told, digest_size=8).hexdigest()) == ("9", "c3899856e66b9a42")
