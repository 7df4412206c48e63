// An agent of a few lines, whole and as a stream, with the libraries of four vendors: node --test
import assert from 'node:assert'
import test from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { Ollama } from 'ollama'
import OpenAI from 'openai'

const tools = [{ type: 'function', function: { name: 'find_order', description: 'Look an order up by its number', parameters: { type: 'object', properties: { id: { type: 'string' } } } } }]
const messages = [{ role: 'system', content: '# Rules\nNever promise a refund.' }, { role: 'user', content: 'Where is order 7?' }]

test('OpenAI, whole and as a stream', async () => {
  const client = new OpenAI()
  const answer = await client.chat.completions.create({ model: 'gpt-4.1', messages, tools })
  assert.strictEqual(answer.choices[0].message.content, 'It is in Oslo.')
  let said = ''
  for await (const part of await client.chat.completions.create({ model: 'gpt-4.1', messages, stream: true })) said += part.choices[0]?.delta?.content ?? ''
  assert.strictEqual(said, 'It is in Oslo.')
  const response = await client.responses.create({ model: 'gpt-4.1', input: 'Where is order 7?' })
  assert.strictEqual(response.output_text, 'It is in Oslo.')
})

test('Anthropic, whole and as a stream', async () => {
  const client = new Anthropic()
  const question = { model: 'claude-sonnet-4-5', max_tokens: 100, messages: [{ role: 'user', content: 'Where is order 7?' }] }
  const answer = await client.messages.create(question)
  assert.strictEqual(answer.content[0].text, 'It is in Oslo.')
  assert.strictEqual(await client.messages.stream(question).finalText(), 'It is in Oslo.')
})

test('what the vendor would refuse is refused', async () => {
  const broken = [...messages, { role: 'tool', tool_call_id: 'call_1', content: 'Oslo' }]
  await assert.rejects(new OpenAI().chat.completions.create({ model: 'gpt-4.1', messages: broken }), (error) => error.status === 400 && /uncalled-result/.test(error.message))
  const system = [{ role: 'user', content: 'Hi' }, { role: 'system', content: 'Be brief.' }]
  await assert.rejects(new Anthropic().messages.create({ model: 'claude-sonnet-4-5', max_tokens: 9, messages: system }), (error) => error.status === 400 && /system-role/.test(error.message))
})

test('Gemini, whole and as a stream', async () => {
  const ai = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY })
  const answer = await ai.models.generateContent({ model: 'gemini-2.5-flash', contents: 'Where is order 7?' })
  assert.strictEqual(answer.text, 'It is in Oslo.')
  let said = ''
  for await (const part of await ai.models.generateContentStream({ model: 'gemini-2.5-flash', contents: 'Where is order 7?' })) said += part.text ?? ''
  assert.strictEqual(said, 'It is in Oslo.')
})

test('Ollama, handed the address', async () => {
  const ollama = new Ollama({ host: process.env.OLLAMA_HOST })
  const answer = await ollama.chat({ model: 'llama3', messages: [{ role: 'user', content: 'Where is order 7?' }], options: { num_ctx: 4096 } })
  assert.strictEqual(answer.message.content, 'It is in Oslo.')
})
