package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// uses is what the sources of the pages say of the catalogue.
type uses struct {
	exact    map[string]string // key → where
	prefixes map[string]bool   // keys made at run time begin with these
	literals map[string]bool   // any other text, for keys kept in tables
}

// collect reads every source file of web and web/templates, generated ones
// included: their calls are where templ's sentences are.
func collect(t *testing.T) uses {
	t.Helper()
	u := uses{exact: map[string]string{}, prefixes: map[string]bool{}, literals: map[string]bool{}}
	for _, dir := range []string{"../*.go", "../[^w]*/*.go", "../../internal/answer/*.go"} {
		files, err := filepath.Glob(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				u.node(fset, n)
				return true
			})
		}
	}
	return u
}

func (u uses) node(fset *token.FileSet, n ast.Node) {
	switch n := n.(type) {
	case *ast.BasicLit:
		if s, ok := text(n); ok {
			u.literals[s] = true
		}
	case *ast.BinaryExpr:
		if s, ok := text(n.X); ok && strings.HasSuffix(s, ".") {
			u.prefixes[s] = true
		}
	case *ast.CallExpr:
		if len(n.Args) == 0 {
			return
		}
		s, ok := text(n.Args[0])
		if !ok {
			return
		}
		where := fset.Position(n.Pos()).String()
		switch callee(n) {
		case "words.T", "templates.T", "T":
			u.exact[s] = where
		case "words.Plural":
			u.exact[s+".one"], u.exact[s+".many"] = where, where
		case "words.Code":
			u.prefixes[s+"."] = true
			u.exact[s+".other"] = where
		}
	}
}

func callee(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
	}
	return ""
}

func text(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

func TestEveryKeyThatAPageUsesIsInTheCatalogue(t *testing.T) {
	u := collect(t)
	for key, where := range u.exact {
		if !Has(key) {
			t.Errorf("%s: no sentence for %q", where, key)
		}
	}
	for prefix := range u.prefixes {
		found := false
		for key := range english {
			found = found || strings.HasPrefix(key, prefix)
		}
		// Only prefixes that look like keys: "shard:" and paths are not.
		if !found && !strings.ContainsAny(prefix, "/: ") && len(prefix) > 2 {
			t.Errorf("no sentence begins with %q", prefix)
		}
	}
}

func TestNoSentenceIsUnused(t *testing.T) {
	u := collect(t)
	for key := range english {
		used := u.literals[key]
		if _, ok := u.exact[key]; ok {
			used = true
		}
		for prefix := range u.prefixes {
			used = used || strings.HasPrefix(key, prefix)
		}
		if !used {
			t.Errorf("%q is not used", key)
		}
	}
}

func TestEveryAdviceHasItsTitle(t *testing.T) {
	for key := range english {
		if base, ok := strings.CutSuffix(key, ".advice"); ok && !Has(base) {
			t.Errorf("%q has no %q", key, base)
		}
		if base, ok := strings.CutSuffix(key, ".one"); ok && !Has(base+".many") {
			t.Errorf("%q has no plural", key)
		}
	}
}

func TestUnknownKeyIsVisible(t *testing.T) {
	if got := T("no.such.key"); got != "[no.such.key]" {
		t.Errorf("got %q", got)
	}
}
