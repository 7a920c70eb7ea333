package shardkey

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"shardboard/internal/fixture/must"
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

func TestQuickReaderReadsSimpleKeysAsTheFullReaderDoes(t *testing.T) {
	for _, text := range []string{
		`{"doc_id":{"$oid":"65e0000000000000000000ff"}}`, ` { "doc_id" : { "$oid" : "65E0000000000000000000fF" } } `, `{"a":"b"}`, `{"":""}`,
		`{"n":5}`, `{"n":-5}`, `{"n":0}`, `{"n":-0}`, `{"n":2147483648}`, `{"n":123456789012345678}`,
		"{\"a\":1,\t\"b\":\"x\",\r\n\"c\":{\"$oid\":\"65e0000000000000000000ff\"}}",
		`{"a":"$x"}`, `{"a.b":1}`,
	} {
		if !checkAgainstFullReader(t, text) {
			t.Errorf("%s is not read quickly", text)
		}
	}
}

func TestQuickReaderLeavesOtherKeysToTheFullReader(t *testing.T) {
	for _, text := range []string{
		``, `{`, `{}`, `[]`, `5`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1}x`, `{"a":1}{}`, `{"a":01}`, `{"a":-}`,
		`{"a":1.5}`, `{"a":1e3}`, `{"a":+1}`,
		`{"a":1,"a":2}`, `{"$oid":"65e0000000000000000000ff"}`, `{"a":{"$oid":"65e0"}}`,
		`{"a":{"$oid":"65e0000000000000000000fg"}}`, `{"a":{"$gt":1}}`,
		`{"a":{"$oid":"65e0000000000000000000ff","b":1}}`, `{"a":{"b":1}}`, `{"a":"\u0041"}`, "{\"a\":\"\x00\"}",
		`{"a":"ä"}`, "{\"a\":\"\xff\"}", `{"a":null}`, `{"a":true}`,
		`{"a":1234567890123456789}`, `{"a":1,"b":2,"c":3,"d":4,"e":5}`, `{"a":1]`, `{'a':1}`,
	} {
		if doc, ok := fastExtJSON(text); ok {
			t.Errorf("%s is read quickly as %s", text, doc)
		}
	}
}

func TestQuickReaderNeverDisagreesWithTheFullReader(t *testing.T) {
	parts := []string{`{`, `}`, `"`, `:`, `,`, ` `, `a`, `$oid`, `"$oid":`, `"65e0000000000000000000ff"`, `0`, `1`, `-`,
		`.`, `e`, `"a":`, `"b":`, `{"a":`, `{"$oid":`, `\`, "\x00", "\x7f", "ä", `null`, `[`}
	rapid.Check(t, func(rt *rapid.T) {
		checkAgainstFullReader(rt, strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(rt, "parts"), ""))
	})
}

func FuzzQuickExtJSON(f *testing.F) {
	f.Add(`{"doc_id":{"$oid":"65e0000000000000000000ff"},"n":-12,"s":"x"}`)
	f.Fuzz(func(t *testing.T, text string) { checkAgainstFullReader(t, text) })
}

func BenchmarkParseExtJSON(b *testing.B) {
	const text = `{"doc_id":{"$oid":"65e0000000000000000000ff"}}`
	for name, read := range map[string]func() error{
		"quick": func() error { _, err := ParseExtJSON(text); return err },
		"full":  func() error { _, err := readExtJSON(text); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must.Do(b, read())
			}
		})
	}
}
