package help

import (
	"embed"
	"fmt"
	"html"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"shardboard/docs/playbooks"
	"shardboard/docs/runbooks"
)

const (
	playbookFolder = "playbooks"
	runbookFolder  = "runbooks"
)

// folders of docs that have pages, and where these are.
var folders = map[string]struct {
	files   embed.FS
	address string
}{
	playbookFolder: {playbooks.Files, "/help/"},
	runbookFolder:  {runbooks.Files, "/runbooks/"},
}

// markup draws what differs from goldmark's own HTML: links stay inside shardboard, an address of a page is a link, and
// a command has the button that copies it. Everything else is goldmark's, which leaves out HTML in the text.
type markup struct{ folder string } // of the text

// RegisterFuncs implements renderer.NodeRenderer.
func (m markup) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindLink, m.link)
	r.Register(ast.KindAutoLink, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			write(w, html.EscapeString(string(n.(*ast.AutoLink).Label(source))))
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindImage, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindCodeSpan, codeSpan)
	r.Register(ast.KindFencedCodeBlock, codeBlock)
}

// link leads to another playbook or runbook; other links are their text, because nothing else is part of the program.
func (m markup) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	folder, file := path.Split(path.Join(m.folder, string(n.(*ast.Link).Destination)))
	to, ok := folders[strings.TrimSuffix(folder, "/")]
	if _, err := to.files.ReadFile(file); !ok || err != nil || path.Ext(file) != ".md" {
		return ast.WalkContinue, nil
	}
	if entering {
		write(w, linkMark+to.address+strings.TrimSuffix(file, ".md")+insideMark)
	} else {
		write(w, linkMark)
	}
	return ast.WalkContinue, nil
}

// pageAddress is an address of a page that needs nothing filled in.
var pageAddress = regexp.MustCompile(`^/[a-z/]*(\?[a-z]+=[a-z0-9-]+(&[a-z]+=[a-z0-9-]+)*)?$`)

// codeSpan makes the address of a page a link.
func codeSpan(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	text := plainText(n, source)
	code := "<code>" + html.EscapeString(text) + "</code>"
	if pageAddress.MatchString(text) {
		code = linkMark + text + insideMark + code + linkMark
	}
	write(w, code)
	return ast.WalkSkipChildren, nil
}

// codeBlock has a line for each command, as elsewhere on our pages.
func codeBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		if text := strings.TrimRight(string(line.Value(source)), "\n"); entering && text != "" {
			write(w, fmt.Sprintf("<p class=\"command\"><code data-copy>%s</code></p>\n", html.EscapeString(text)))
		}
	}
	return ast.WalkContinue, nil
}

// write leaves errors to the buffer, which keeps the first one.
func write(w util.BufWriter, text string) { _, _ = w.WriteString(text) }
