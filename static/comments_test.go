package static

import (
	"bytes"
	"regexp"
	"testing"
)

func TestModulesAreServedWithoutComments(t *testing.T) {
	const module = "// What it is for.\nimport { a } from \"./a.js\";\n\n/** f adds. */\nexport const f = () => {\n" +
		"  // why\n  const b = /** @type {any} */ (a);\n  return `${b} // two`; // one\n};\n/**\n * g\n * @returns {number}\n */\n" +
		"export const g = \"/* text */\";\n"
	const want = "import { a } from \"./a.js\";\nexport const f = () => {\nconst b = (a);\nreturn `${b} // two`;\n};\n" +
		"export const g = \"/* text */\";\n"
	if got := string(withoutComments([]byte(module))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A comment that begins behind code and goes on for lines would stay open.
func TestEveryCommentIsOneThatIsLeftOut(t *testing.T) {
	seen := 0
	for _, a := range Assets() {
		if !bytes.HasSuffix([]byte(a.Name), []byte(".js")) {
			continue
		}
		seen++
		if m := regexp.MustCompile(`(?m)^\s*//|^ *\*|@typedef|@param|@returns`).Find(a.Body); m != nil {
			t.Errorf("%s still has the comment %q", a.Name, m)
		}
	}
	if seen == 0 {
		t.Error("no module found: the check is broken")
	}
}
