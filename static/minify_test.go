package static

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
)

// What is served says the same again when it is minified again: it parses, and nothing of it is left to drop.
func TestEveryMinifiedFileParses(t *testing.T) {
	for _, a := range Assets() {
		if again := minified(a.Name, a.Body); len(again) < len(a.Body)*9/10 {
			t.Errorf("%s is served with %d bytes, %d would do", a.Name, len(a.Body), len(again))
		}
	}
}

func TestNoCommentIsServed(t *testing.T) {
	for _, a := range Assets() {
		if m := regexp.MustCompile(`/\*|(?m)^\s*//|@typedef|@param|@returns`).Find(a.Body); m != nil {
			t.Errorf("%s still has the comment %q", a.Name, m)
		}
	}
}

// Modules find each other by exported names, so these must stay.
func TestMinifiedModulesKeepTheirExports(t *testing.T) {
	exports := regexp.MustCompile(`export (?:async )?(?:function\*?|const|let|class) ?(\w+)`)
	seen := 0
	for _, a := range Assets() {
		if !strings.HasSuffix(a.Name, ".js") {
			continue
		}
		for _, m := range exports.FindAllSubmatch(built().read(a.Name), -1) {
			seen++
			served := slices.ContainsFunc(exports.FindAllSubmatch(a.Body, -1), func(s [][]byte) bool { return bytes.Equal(s[1], m[1]) })
			expect.That(t, served, "%s does not export %s any more", a.Name, m[1])
		}
	}
	expect.That(t, seen >= 100, "%d exports found: the check is broken", seen)
}

func TestDevelopersMaySeeTheSource(t *testing.T) {
	source := build(FS, true)
	script := string(source.byName["js/app.js"].Body)
	if !strings.HasPrefix(script, string(built().read("js/app.js"))[:80]) || !strings.Contains(script, "// A page may get its map only") {
		t.Error("app.js is not as written")
	}
	imports := regexp.MustCompile(`(?m)^import .* from "\./(.+)";`).FindAllStringSubmatch(script, -1)
	for _, m := range imports {
		expect.That(t, source.byURL[Prefix+m[1]] != nil, "app.js imports %s, which is not served", m[1])
	}
	expect.That(t, len(imports) >= 10, "%d imports found: the check is broken", len(imports))
	expect.That(t, bytes.Contains(source.byName["app.css"].Body, built().allStyles()), "the style sheet is not as written")
}

// What it costs a start to minify: compare with BenchmarkBuildFromSource.
func BenchmarkBuildMinified(b *testing.B) {
	for b.Loop() {
		build(FS, false)
	}
}

func BenchmarkBuildFromSource(b *testing.B) {
	for b.Loop() {
		build(FS, true)
	}
}

// Minifying alone.
func BenchmarkMinify(b *testing.B) {
	for b.Loop() {
		minified("app.css", built().allStyles())
		for _, a := range Assets() {
			if strings.HasSuffix(a.Name, ".js") {
				minified(a.Name, built().read(a.Name))
			}
		}
	}
}
