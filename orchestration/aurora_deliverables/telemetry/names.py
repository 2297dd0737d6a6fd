"""Names of `aura.*` telemetry (semantic conventions): spans, attributes, instruments (AURA-M §6.2–6.4;
`conventions.yaml`).
"""

from __future__ import annotations

SCOPE = "aurora.deliverables"
"""The instrumentation scope of all spans and metrics."""

SCHEMA_URL = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"
"""The version of OpenTelemetry's conventions for generative AI whose `gen_ai.*` names are used: those of their own
repository, open-telemetry/semantic-conventions-genai, which build on the general ones at 1.44.0."""

# Spans (§6.2).
DELIVERABLE = "aura.deliverable"
PLAN = "aura.deliverable.plan"
EXECUTE = "aura.deliverable.execute"
VALIDATE = "aura.deliverable.validate"
ACCEPT = "aura.deliverable.accept"
TASK = "aura.task"
TOOL_CALL = "aura.tool.call"
RECOVERY = "aura.recovery.attempt"
FUNCTIONAL = "aura.conformance.functional"
CORRECTNESS = "aura.conformance.correctness"
CONSTRAINTS = "aura.conformance.constraints"

# Span events.
PHASE_STARTED = "aura.phase.started"
TESTS_RAN = "aura.tests.ran"
HUMAN_INTERVENED = "aura.human.intervened"

# Attributes of §6.3. A conformance dimension is the name of a span and of the attribute that has its score.
DELIVERABLE_ID = "aura.deliverable.id"
DELIVERABLE_TYPE = "aura.deliverable.type"
DELIVERABLE_STATUS = "aura.deliverable.status"
DELIVERABLE_COMPLEXITY = "aura.deliverable.complexity"
SPEC_FRAMEWORK = "aura.spec.framework"
SPEC_ID = "aura.spec.id"
SPEC_REQUIREMENTS = "aura.spec.requirements_count"
PHASE_NAME = "aura.phase.name"
PHASE_ITERATION = "aura.phase.iteration"
ITERATION_PENALTY = "aura.conformance.iteration_penalty"
OVERALL = "aura.conformance.overall"
FAILURE_TYPE = "aura.failure.type"
RECOVERY_ATTEMPT = "aura.recovery.attempt"
RECOVERY_TOTAL = "aura.recovery.total"
AGENT_NAME = "aura.agent.name"
AGENT_MODEL = "aura.agent.model"
AGENT_FRAMEWORK = "aura.agent.framework"

# Attributes beyond §6.3: without them a tool call would have no name, and a task no number.
TASK_INDEX = "aura.task.index"
TASK_COUNT = "aura.task.count"
TOOL_NAME = "aura.tool.name"
TOOL_COUNT = "aura.tool.count"
COST = "aura.usage.cost_usd"
TESTS_PASSED = "aura.tests.passed"
TESTS_FAILED = "aura.tests.failed"
WAITED = "aura.human.waited_seconds"
LEFT_OUT = "aura.deliverable.spans_left_out"
