package actions

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"shardboard/internal/fixture/must"
)

// -update writes the tables.
func TestDocumentTablesMatchDescriptions(t *testing.T) {
	const path = "../../docs/change-kinds.md"
	raw := must.Get(os.ReadFile(path))
	text := replaceSection(t, string(raw), "kinds", kindTable())
	text = replaceSection(t, text, "arguments", argumentTable())
	switch {
	case text == string(raw):
	case *update:
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the tables of %s are out of date; run this test with -update", path)
	}
}

// replaceSection replaces the table between the marks of a name.
func replaceSection(t *testing.T, text, name, table string) string {
	t.Helper()
	before, rest, begins := strings.Cut(text, "<!-- "+name+":")
	mark, rest, marked := strings.Cut(rest, "-->\n")
	_, after, ends := strings.Cut(rest, "<!-- end of "+name+" -->")
	if !begins || !marked || !ends {
		t.Fatalf("the document has no marks for the table of %s", name)
	}
	return before + "<!-- " + name + ":" + mark + "-->\n" + table + "<!-- end of " + name + " -->" + after
}

func kindTable() string {
	var b strings.Builder
	b.WriteString("| kind | what it does | arguments | proven by | undone by |\n|---|---|---|---|---|\n")
	for _, k := range Descriptions() {
		var names []string
		for _, x := range k.Arguments {
			name := "`" + x.Name + "`"
			if x.Required {
				name = "**" + name + "**"
			}
			names = append(names, name)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.Kind, k.Lead, strings.Join(names, ", "), k.Proof, k.Undo)
	}
	return b.String()
}

func argumentTable() string {
	var b strings.Builder
	b.WriteString("| argument | type | what it is |\n|---|---|---|\n")
	for _, x := range Arguments() {
		kind := string(x.Type)
		if x.Type == TypeChoice {
			var values []string
			for _, c := range x.Choices {
				values = append(values, "`"+c.Value+"`")
			}
			kind = strings.Join(values, " or ")
		}
		if x.Default != "" {
			kind += ", default `" + x.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", x.Name, kind, x.Help)
	}
	return b.String()
}
