package shardkey

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkAgainstFullReader fails the test unless both readers return the same.
func checkAgainstFullReader(t interface{ Fatalf(string, ...any) }, text string) (quick bool) {
	doc, ok := fastExtJSON(text)
	if !ok {
		return false
	}
	want, err := readExtJSON(text)
	if err != nil || !bytes.Equal(doc, want) {
		t.Fatalf("%q is read quickly as %s, and as %s, %v", text, doc, want, err)
	}
	return true
}

func TestQuickReaderNeverDisagreesWithTheFullReader(t *testing.T) {
	parts := []string{`{`, `}`, `"`, `:`, `,`, ` `, `a`, `$oid`, `"$oid":`, `"65e0000000000000000000ff"`, `0`, `1`, `-`,
		`.`, `e`, `"a":`, `"b":`, `{"a":`, `{"$oid":`, `\`, "\x00", "\x7f", "ä", `null`, `[`}
	if !checkAgainstFullReader(t, `{"doc_id": {"$oid": "65E000000000000000000fff"}}`) {
		t.Error("a usual key is not read quickly")
	}
	rapid.Check(t, func(rt *rapid.T) {
		checkAgainstFullReader(rt, strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(rt, "parts"), ""))
	})
}

func FuzzQuickExtJSON(f *testing.F) {
	f.Add(`{"doc_id":{"$oid":"65e0000000000000000000ff"},"n":-12,"s":"x"}`)
	for _, text := range []string{`{"n":-0}`, `{"n":2147483648}`, `{"n":123456789012345678}`, `{"a":"$x"}`, `{"a.b":1}`, `{"a":01}`, `{"a":1.5}`,
		`{"a":1,"a":2}`, `{"a":{"$oid":"65e0"}}`, `{"a":{"$oid":"65e0000000000000000000fg"}}`, `{"a":{"$gt":1}}`, `{"a":"\u0041"}`,
		"{\"a\":\"\x00\"}", "{\"a\":\"\xff\"}", `{"a":1234567890123456789}`, `{"a":1}{}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkAgainstFullReader(t, text) })
}
