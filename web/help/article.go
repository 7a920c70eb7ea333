package help

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/a-h/templ"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"shardboard/internal/rules"
	"shardboard/web/templates"
)

// article is a playbook or a runbook as HTML. Addresses of our pages are marked in it, because a link depends on the
// page that it is on: the cluster, and the time that is looked at.
type article struct {
	Name, Title string
	Lead        string   // its first paragraph, as text
	Solves      []string // names of the rules that lead to it
	html        string
}

// A marked link is linkMark, address, insideMark, what is inside it as HTML, linkMark. Markdown cannot contain the
// marks: goldmark replaces U+0000, and a test forbids the other.
const (
	linkMark   = "\x00"
	insideMark = "\x01"
)

// playbookList and runbookList are all of them in the order of their titles.
var (
	playbookList = sync.OnceValue(func() []article {
		list := articlesOf(playbookFolder)
		for i, a := range list {
			for _, r := range rules.Rules() {
				if slices.Contains(r.Playbooks(), rules.Playbook(a.Name)) {
					list[i].Solves = append(list[i].Solves, r.Name())
				}
			}
		}
		return list
	})
	runbookList = sync.OnceValue(func() []article { return articlesOf(runbookFolder) })
)

// articlesOf reads a folder of docs. It is part of the program, so a text that cannot be read is a mistake that every
// start shows.
func articlesOf(folder string) (out []article) {
	names, err := fs.Glob(folders[folder].files, "*.md")
	if err != nil {
		panic(err)
	}
	for _, file := range names {
		if file == "README.md" {
			continue // lists the others in the repository
		}
		source, err := folders[folder].files.ReadFile(file)
		if err != nil {
			panic(err)
		}
		a, err := render(folder, strings.TrimSuffix(file, path.Ext(file)), source)
		if err != nil {
			panic(err)
		}
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b article) int { return strings.Compare(a.Title, b.Title) })
	return out
}

// render makes the HTML of a text. Its title and first paragraph stand in the head of the page.
func render(folder, name string, source []byte) (article, error) {
	a := article{Name: name}
	md := goldmark.New(goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(markup{folder}, 100))))
	doc := md.Parser().Parse(text.NewReader(source))
	if h, ok := doc.FirstChild().(*ast.Heading); ok && h.Level == 1 {
		a.Title = plainText(h, source)
		doc.RemoveChild(doc, h)
	}
	if p, ok := doc.FirstChild().(*ast.Paragraph); ok {
		a.Lead = plainText(p, source)
		doc.RemoveChild(doc, p)
	}
	var html bytes.Buffer
	err := md.Renderer().Render(&html, source, doc)
	a.html = html.String()
	return a, err
}

// plainText is the text of a node without its markup, on one line.
func plainText(n ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			out.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				out.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}

// body draws the article. An address for which link returns "" is text.
func (a article) body(link func(address string) string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		for i, part := range strings.Split(a.html, linkMark) {
			if i%2 == 1 {
				address, inside, _ := strings.Cut(part, insideMark)
				part = inWords(ctx, inside)
				if to := link(address); to != "" {
					part = `<a href="` + templ.EscapeString(string(templates.To(ctx, to))) + `">` + part + `</a>`
				}
			} else {
				part = inWords(ctx, part)
			}
			if _, err := io.WriteString(w, part); err != nil {
				return err
			}
		}
		return nil
	})
}

// notWords are the parts of an article that are the same with every profile: commands, names in code, and markup.
var notWords = regexp.MustCompile(`(?s)<code.*?</code>|<[^>]*>`)

// inWords is HTML of an article with its text in the words of the context's profile.
func inWords(ctx context.Context, html string) string {
	var out strings.Builder
	at := 0
	for _, m := range notWords.FindAllStringIndex(html, -1) {
		out.WriteString(templates.Words(ctx, html[at:m[0]]) + html[m[0]:m[1]])
		at = m[1]
	}
	return out.String() + templates.Words(ctx, html[at:])
}

// pagesOf are the links of a site. Without changes there are no pages of plans and runs.
func pagesOf(changes bool) func(address string) string {
	return func(address string) string {
		if first := templates.FirstPart(address); !changes && (first == "plans" || first == "runs") {
			return ""
		}
		return address
	}
}
