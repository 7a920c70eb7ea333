package shardkey

import "testing"

func BenchmarkParseExtJSON(b *testing.B) {
	const text = `{"doc_id":{"$oid":"65e0000000000000000000ff"}}`
	for name, read := range map[string]func() error{
		"quick": func() error { _, err := ParseExtJSON(text); return err },
		"full":  func() error { _, err := readExtJSON(text); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
