package sanitize_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/sanitize"
)

func TestLineShowsWhatCannotBeSeen(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "",
		"yorkie-meta.documents":        "yorkie-meta.documents",
		"문서 ключ 鍵 😀 é":                "문서 ключ 鍵 😀 é",
		`{"$oid": "a\\b"}`:             `{"$oid": "a\\b"}`,
		"two\nlines\r\n":               `two\nlines\r\n`,
		"a\tb":                         `a\tb`,
		"\x1b[31mred\x1b[0m":           `\u{001b}[31mred\u{001b}[0m`,
		"\x1b]0;title\x07":             `\u{001b}]0;title\u{0007}`,
		"\u009b31m":                    `\u{009b}31m`,
		"\x9b31m":                      `\x9b31m`, // the same sequence as one byte
		"\x00\x7f":                     `\u{0000}\u{007f}`,
		"admin\u202egnp.exe":           `admin\u{202e}gnp.exe`,
		"\u2066x\u2069\u200f\u061c":    `\u{2066}x\u{2069}\u{200f}\u{061c}`,
		"a\u2028b\u2029c\u0085d":       `a\u{2028}b\u{2029}c\u{0085}d`,
		"a\u200bb\ufeffc\u00add":       `a\u{200b}b\u{feff}c\u{00ad}d`,
		"a\u00a0b\u3000c":              `a\u{00a0}b\u{3000}c`,
		"a\U000e0041b":                 `a\u{e0041}b`,
		"a\ufe0fb\u3164c\u115fd":       `a\u{fe0f}b\u{3164}c\u{115f}d`,
		"\xff\xfe half \xe2\x82":       `\xff\xfe half \xe2\x82`,
		"the sign itself \ufffd stays": "the sign itself \ufffd stays",
	} {
		expect.Equal(t, sanitize.Line(in), want, "%q", in)
	}
}

func TestSentenceKeepsTheThinSpaceOfOurFigures(t *testing.T) {
	const in = "12\u202f345 chunks of a\nb\u202e\u2003c"
	if got, want := sanitize.Sentence(in), "12\u202f345 chunks of a\\nb\\u{202e}\\u{2003}c"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLineIsOnePrintableLineWhateverComes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		out := sanitize.Line(in)
		must.That(t, utf8.ValidString(out), "%q is not UTF-8", out)
		for _, r := range out {
			if !unicode.IsPrint(r) || unicode.In(r, unicode.Cf, unicode.Cc, unicode.Zl, unicode.Zp) {
				t.Fatalf("%q has %U", out, r)
			}
		}
		if again := sanitize.Line(out); again != out {
			t.Fatalf("%q became %q the second time", out, again)
		}
		must.That(t, strings.TrimFunc(in, unicode.IsPrint) != "" || len(out) >= len(in), "%q lost something: %q", in, out)
	})
}

// In a command a name must be a JavaScript string and nothing else, with invisible characters escaped.
func TestQuotedIsOneString(t *testing.T) {
	for in, want := range map[string]string{`a"); db.dropDatabase(); ("`: `"a\"); db.dropDatabase(); (\""`, "a\u202eb": `"a\u202eb"`,
		"a\u2028b": `"a\u2028b"`, "a\x7fb\nc": `"a\u007fb\nc"`, "a\U000e0001b": `"a\udb40\udc01b"`, "주문": `"주문"`} {
		expect.Equal(t, sanitize.Quoted(in), want, "%q quoted", in)
	}
}
