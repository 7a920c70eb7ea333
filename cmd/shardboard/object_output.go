package main

import (
	"fmt"
	"io"

	"shardboard/internal/sheet"
)

// writeObject writes one object: as the API's JSON, or for people its values and then its lists.
func (q query) writeObject(w io.Writer, text []byte, out terminal) error {
	if q.output == "json" {
		_, err := io.WriteString(w, indented(text, "")+"\n")
		return err
	}
	v, err := decoded(text, q.question.Answer)
	if err != nil {
		return err
	}
	facts, parts := sheet.Object(v, q.output == "wide")
	width := 0
	for _, f := range facts {
		width = max(width, len(f.Name))
	}
	for _, f := range facts {
		line(w, "%-*s  %s", width, f.Name, f.Text)
	}
	for _, p := range parts {
		fmt.Fprintln(w)
		line(w, "%s", sheet.Title(p.Name))
		table := textTable{w: w, out: out, header: p.People.Header(), numbers: p.People.Numbers(), whole: q.output == "wide"}
		var rows [][]string
		for i := range p.Items.Len() {
			rows = append(rows, p.People.Rows(p.Items.Index(i))...)
		}
		if len(rows) == 0 {
			line(w, "none")
			continue
		}
		if err := table.write(rows); err != nil {
			return err
		}
	}
	return nil
}
