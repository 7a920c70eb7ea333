package sanitize

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

const orphaned = "ExceededTimeLimit: Failed to delete orphaned yorkie-meta.documents range [{ project_id: " +
	"ObjectId('6600006126d6cf4c63274108') }, { project_id: ObjectId('660000c2b17ce1a5c1c0fa74') }) :: caused by :: operation exceeded " +
	"time limit"

func TestShortenKeepsWhatMustStayWhole(t *testing.T) {
	bound := strings.Index(orphaned, "[{")
	after := strings.Index(orphaned, " :: caused")
	for n := range len(orphaned) {
		got, cut := strings.CutSuffix(Shorten(orphaned, n), "…")
		must.That(t, cut, "%d: not marked as cut: %q", n, got)
		got = strings.TrimRight(got, " ")
		must.That(t, strings.HasPrefix(orphaned, got) && len(got) <= n, "%d: %q", n, got)
		must.That(t, len(got) <= bound || len(got) >= after, "%d: cut inside the bound: %q", n, got)
	}
	if got := Shorten(orphaned, len(orphaned)); got != orphaned {
		t.Fatal(got)
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want string
	}{
		{"the maximum number of documents is 2262, and more", 37, "the maximum number of documents is …"},
		{"the maximum number of documents is 2262, and more", 40, "the maximum number of documents is 2262, …"},
		{`Update request: { q: { key: "doc 1 }" }, u: 1 } shard key`, 30, "Update request: …"},
		{`Update request: { q: { key: "doc 1 }" }, u: 1 } shard key`, 50, `Update request: { q: { key: "doc 1 }" }, u: 1 } …`},
		{"can't open a cursor to scan the range, it isn't there", 22, "can't open a cursor to …"},
		{"an opening { that is never closed and goes on", 30, "an opening { that is never …"},
		{"660000c2b17ce1a5c1c0fa74", 10, "…"},
		{strings.Repeat("가", 40), 32, strings.Repeat("가", 10) + " …"},
		{"Database 'yorkie meta' could not be moved", 18, "Database …"},
		{"bad \xff bytes", 20, "bad \ufffd bytes"},
	} {
		expect.Equal(t, Shorten(c.in, c.most), c.want, "%q to %d", c.in, c.most)
	}
}

func TestShortenNeverCutsANumberOrAnId(t *testing.T) {
	piece := rapid.SampledFrom(
		[]string{
			"a",
			"moved ",
			"12345",
			"6600006126d6cf4c63274108",
			" ",
			"{ k: 12 }",
			"[{ k: 1 }, { k: 2 })",
			"(",
			")",
			"{",
			"'",
			`"`,
			"ObjectId('66')",
			`UUID("0f80")`,
			"ü",
			"\\",
			"\x80",
			"::",
		},
	)
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(piece, 1, 40).Draw(t, "pieces"), "")
		most := rapid.IntRange(0, 120).Draw(t, "most")
		got := Shorten(s, most)
		must.That(t, utf8.ValidString(got), "%q", got)
		if len(s) <= most {
			return
		}
		kept := strings.TrimSuffix(strings.TrimSuffix(got, "…"), " ")
		if utf8.ValidString(s) {
			must.That(t, strings.HasPrefix(s, kept) && len(kept) <= most, "%q of %q", got, s)
			if n := len(kept); n > 0 && n < len(s) && digit(s[n-1]) && digit(s[n]) {
				t.Fatalf("%q cuts a number of %q", got, s)
			}
		}
	})
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func FuzzShorten(f *testing.F) {
	f.Add(orphaned, 40)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if got := Shorten(s, n%5000); !utf8.ValidString(got) {
			t.Fatalf("%q", got)
		}
	})
}
