package actions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shardboard/internal/fixture/must"
)

// A check reads the draft and returns what it found: it assigns nothing to the draft, and calls nothing that
// plans a step
// or adds to what the draft has found.
func TestChecksOnlyRead(t *testing.T) {
	isCheck := regexp.MustCompile(`^(check|warnOf|block)[A-Z]`)
	plans := regexp.MustCompile(`^(step|check|pass|warn|block|suggest|add|move(Off|Back|AllTo|Whole)?|merge(Again)?|split(At|Median)|` +
		`(set|remove)Range|(add|remove)Zone|dependsOnFlags)$`)
	files, err := filepath.Glob("*.go")
	must.Do(t, err)
	n := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		must.Do(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Recv.List[0].Names == nil || fn.Recv.List[0].Names[0].Name != "d" || !isCheck.MatchString(fn.Name.Name) {
				continue
			}
			n++
			ast.Inspect(fn.Body, func(x ast.Node) bool {
				switch x := x.(type) {
				case *ast.AssignStmt:
					for _, to := range x.Lhs {
						if s, ok := to.(*ast.SelectorExpr); ok && ofDraft(s) {
							t.Errorf("%s assigns to d.%s", fn.Name.Name, s.Sel.Name)
						}
					}
				case *ast.CallExpr:
					if s, ok := x.Fun.(*ast.SelectorExpr); ok && ofDraft(s) && plans.MatchString(s.Sel.Name) && !isCheck.MatchString(s.Sel.Name) {
						t.Errorf("%s calls d.%s", fn.Name.Name, s.Sel.Name)
					}
				}
				return true
			})
		}
	}
	if n < 60 {
		t.Errorf("%d checks", n)
	}
}

// ofDraft reports whether a selector is of the draft, d.
func ofDraft(s *ast.SelectorExpr) bool {
	id, ok := s.X.(*ast.Ident)
	return ok && id.Name == "d"
}
