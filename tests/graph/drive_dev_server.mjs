// Drives a dev server with LangGraph's JavaScript SDK and prints what it saw as one JSON object.
// node drive_dev_server.mjs URL, in a folder where @langchain/langgraph-sdk is installed.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// The SDK is looked for where this is started, not where this file stands.
const sdk = createRequire(pathToFileURL(`${process.cwd()}/`)).resolve("@langchain/langgraph-sdk");
const { Client } = await import(pathToFileURL(sdk));

const client = new Client({ apiUrl: process.argv[2] });
const context = { principal: "bea@acme" };
const { thread_id: thread } = await client.threads.create();

const progress = [];
const input = { messages: [{ type: "human", content: "Rotate my key" }] };
for await (const part of client.runs.stream(thread, "expediente", { input, context, streamMode: "custom" })) {
  if (part.event === "custom") progress.push(part.data.node);
}

const paused = await client.threads.getState(thread);
const [interrupt] = paused.tasks[0].interrupts;
const answers = interrupt.value.approvals.map((call) => [
  call.call_id,
  { approval_id: call.approval_id, decision: "approve" },
]);
const command = { resume: { [interrupt.id]: Object.fromEntries(answers) } };
const done = await client.runs.wait(thread, "expediente", { command, context });
const history = await client.threads.getHistory(thread, { limit: 100 });

console.log(
  JSON.stringify({
    progress,
    asked: interrupt.value.approvals.map((call) => call.tool),
    status: done.task.status,
    said: done.messages.at(-1).content,
    steps: history.map((state) => state.next).reverse(),
  }),
);
