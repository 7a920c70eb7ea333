package site

import (
	"bytes"
	"strings"

	"shardboard/web/templates"
)

// addressFields are the JSON fields that hold addresses of the site.
var addressFields = [][]byte{[]byte(`"url":"/`), []byte(`"results":"/`), []byte(`"playbook":"/`), []byte(`"worstUrl":"/`)}

// rebase completes the addresses in an answer: where it leads to, except for what Below adds, and those in JSON. Pages
// complete theirs as they are drawn (templates.To). Answers know nothing of a base, so the encoded text is changed
// here, once, rather than in each of the handlers. The text of a field's name with its quotes cannot be part of a JSON
// string, where quotes are escaped.
func (a *response) rebase(b templates.Base) {
	if b.Root+b.Prefix == "" {
		return
	}
	if to := a.header.Get("Location"); to != "" {
		a.header.Set("Location", b.Of(to))
	}
	if !strings.HasPrefix(a.header.Get("Content-Type"), MediaJSON) {
		return
	}
	body := a.body.Bytes()
	for _, field := range addressFields {
		body = rebaseField(body, field, b)
	}
	a.body = *bytes.NewBuffer(body)
}

// rebaseField completes the addresses of one field, given as `"name":"/`. It returns the same slice if there is none.
func rebaseField(body, field []byte, b templates.Base) []byte {
	if !bytes.Contains(body, field) {
		return body
	}
	out := make([]byte, 0, len(body)+len(body)/16)
	for {
		at := bytes.Index(body, field)
		if at < 0 {
			return append(out, body...)
		}
		begin := at + len(field) - 1 // of the address
		out, body = append(out, body[:begin]...), body[begin:]
		end := max(bytes.IndexByte(body, '"'), 0)
		out, body = append(out, b.Whole(string(body[:end]))...), body[end:]
	}
}
