"""The server under pytest-lsp, which answers to the capabilities that real editors announce, warns where an answer is
beyond them, and takes no answer that has not the shape of the protocol."""

import asyncio
import json
import os
import pathlib
from importlib import resources

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities, make_test_lsp_client

FILE = pathlib.Path(os.environ["CTXC_FILE"])
ROOT = FILE.parent.parent
URI = FILE.as_uri()
EXPECTED = json.loads(os.environ["CTXC_EXPECTED"])
PATIENCE = 20
PROFILES = sorted(
    path.name.removesuffix(".json").replace("_v", "@v", 1)
    for path in resources.files("pytest_lsp.clients").iterdir()
    if path.name.endswith(".json")
)
# Bytes of a unit that columns are counted in, and the encoding that makes them.
UNITS = {"utf-8": (1, "utf-8"), "utf-16": (2, "utf-16-le")}


def editor():
    """A client that can be asked to watch files, which the library's own announces and cannot."""
    made = make_test_lsp_client()
    made.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda params: None)
    return made


@pytest_lsp.fixture(config=ClientServerConfig(server_command=["ctxc", "lsp"], client_factory=editor))
async def client(lsp_client: LanguageClient):
    yield
    await asyncio.wait_for(lsp_client.shutdown_session(), PATIENCE)


class Document:
    """The text as this client has it, in the units that were agreed on."""

    def __init__(self, encoding):
        self.text = FILE.read_text(encoding="utf-8")
        self.size, self.encoding = UNITS[encoding]

    def offset(self, position):
        lines = self.text.encode(self.encoding).split("\n".encode(self.encoding))
        # Splitting bytes is safe: no unit of these characters holds a line feed.
        before = sum(len(line) + self.size for line in lines[: position.line])
        return before + position.character * self.size

    def slice(self, range):
        text = self.text.encode(self.encoding)
        return text[self.offset(range.start) : self.offset(range.end)].decode(self.encoding)

    def apply(self, edit):
        text = self.text.encode(self.encoding)
        start, end = self.offset(edit.range.start), self.offset(edit.range.end)
        self.text = (text[:start] + edit.new_text.encode(self.encoding) + text[end:]).decode(self.encoding)


def capabilities(profile, way, encoding):
    able = client_capabilities(profile)
    able.general = able.general or types.GeneralClientCapabilities()
    able.general.position_encodings = [types.PositionEncodingKind(encoding)]
    able.text_document.diagnostic = types.DiagnosticClientCapabilities() if way == "pull" else None
    if able.workspace:
        able.workspace.diagnostics = None
    return able


async def findings(client, way, done):
    """What the client has to show, once it is what is waited for: a pulled answer must be it at once."""
    if way == "pull":
        asked = types.DocumentDiagnosticParams(text_document=types.TextDocumentIdentifier(uri=URI))
        return (await client.text_document_diagnostic_async(asked)).items
    for _ in range(PATIENCE * 50):
        if URI in client.diagnostics and done(client.diagnostics[URI]):
            break
        await asyncio.sleep(0.02)
    return client.diagnostics.get(URI)


def said(document, items):
    return [{"code": item.code, "covers": document.slice(item.range), "message": item.message} for item in items]


@pytest.mark.parametrize("encoding", UNITS)
@pytest.mark.parametrize("way", ["push", "pull"])
@pytest.mark.parametrize("profile", PROFILES)
async def test_a_finding_is_seen_and_mended(client, profile, way, encoding):
    await asyncio.wait_for(see_and_mend(client, profile, way, encoding), 2 * PATIENCE)


async def see_and_mend(client, profile, way, encoding):
    able = capabilities(profile, way, encoding)
    started = await client.initialize_session(
        types.InitializeParams(capabilities=able, root_uri=ROOT.as_uri(), workspace_folders=[])
    )
    can = started.capabilities
    assert can.position_encoding == encoding
    assert (can.diagnostic_provider is not None) == (way == "pull")

    document = Document(encoding)
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(
            text_document=types.TextDocumentItem(uri=URI, language_id="xml", version=1, text=document.text)
        )
    )
    items = await findings(client, way, lambda items: items)
    assert said(document, items) == EXPECTED["seen"]

    here = types.TextDocumentIdentifier(uri=URI)
    context = types.CodeActionContext(diagnostics=items, only=[types.CodeActionKind.QuickFix])
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(text_document=here, range=items[0].range, context=context)
    )

    start = items[0].range.start
    # With the version of the document where the client holds edits against it.
    offered = actions[0].edit
    if offered.document_changes:
        [document_edit] = offered.document_changes
        assert (document_edit.text_document.uri, document_edit.text_document.version) == (URI, 1)
        [edit] = document_edit.edits
    else:
        [edit] = offered.changes[URI]
    document.apply(edit)
    assert document.text == EXPECTED["text"]
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            text_document=types.VersionedTextDocumentIdentifier(uri=URI, version=2),
            content_changes=[types.TextDocumentContentChangePartial(range=edit.range, text=edit.new_text)],
        )
    )
    assert said(document, await findings(client, way, lambda items: not items)) == EXPECTED["left"]
    assert way == "push" or client.diagnostics == {}, "a client that pulls is not pushed to"
    await ask_everything(client, start)


async def ask_everything(client, position):
    """Every other request: an answer of another shape than the protocol's is an error of the client."""
    here = types.TextDocumentIdentifier(uri=URI)
    at = {"text_document": here, "position": position}
    all = types.Range(types.Position(0, 0), types.Position(9, 0))
    options = types.FormattingOptions(tab_size=2, insert_spaces=True)
    assert await client.text_document_hover_async(types.HoverParams(**at))
    assert await client.text_document_completion_async(
        types.CompletionParams(text_document=here, position=types.Position(position.line, position.character + 1))
    )
    assert await client.text_document_document_symbol_async(types.DocumentSymbolParams(here))
    assert await client.text_document_folding_range_async(types.FoldingRangeParams(here))
    await client.text_document_inlay_hint_async(types.InlayHintParams(here, all))
    assert await client.text_document_code_lens_async(types.CodeLensParams(here))
    assert await client.text_document_selection_range_async(types.SelectionRangeParams(here, [position]))
    assert await client.workspace_symbol_async(types.WorkspaceSymbolParams("broken"))
    await client.text_document_definition_async(types.DefinitionParams(**at))
    await client.text_document_references_async(types.ReferenceParams(**at, context=types.ReferenceContext(True)))
    await client.text_document_prepare_rename_async(types.PrepareRenameParams(**at))
    await client.text_document_linked_editing_range_async(types.LinkedEditingRangeParams(**at))
    await client.text_document_document_link_async(types.DocumentLinkParams(here))
    await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(here))
    await client.text_document_formatting_async(types.DocumentFormattingParams(here, options))
