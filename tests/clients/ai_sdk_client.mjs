// Asks an endpoint through the AI SDK's provider for OpenAI-compatible servers: MODE BASE_URL KEY MODEL TEXT.
// Prints {"text"} or {"raised", "status"}.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";

const [mode, baseURL, apiKey, modelId, prompt] = process.argv.slice(2);
const model = createOpenAICompatible({ name: "endpoint", baseURL, apiKey }).chatModel(modelId);
const request = { model, prompt, maxRetries: 0 };

async function stream() {
  let failure;
  const result = streamText({ ...request, onError: ({ error }) => void (failure = error) });
  let text = "";
  for await (const piece of result.textStream) text += piece;
  if (failure) throw failure;
  return text;
}

try {
  const text = mode === "stream" ? await stream() : (await generateText(request)).text;
  console.log(JSON.stringify({ text }));
} catch (error) {
  console.log(JSON.stringify({ raised: error?.name ?? String(error), status: error?.statusCode ?? null }));
}
