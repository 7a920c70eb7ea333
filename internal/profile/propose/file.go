package propose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
)

// keyField is the field of a profile file with a shard key.
const keyField = "shardKey"

// file is the text of a profile before it is written.
type file struct {
	name      string
	directory string // "" = none
	id        string
	tenant    profile.Called
	title     string // field with the tenant's name
	created   string
	documents row
	removed   string
	changed   string
	rest      []row
}

// row is a collection of the file.
type row struct {
	name, tenant, document, key, created string
	called                               profile.Called
	shardKey                             *shardkey.Pattern // nil: not sharded
}

// plain names need no quotes in YAML.
var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// words mean something else without quotes, in YAML or in the file.
var words = []string{"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf", "unsharded", "hashed"}

// scalar is a text in YAML. JSON's strings are YAML's double-quoted ones.
func scalar(s string) string {
	if plain.MatchString(s) && !slices.Contains(words, strings.ToLower(s)) {
		return s
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return `""` // cannot happen: a string can be encoded
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// YAML is the file that --profile reads, with the reasons as comments; nil without a profile.
func (p Proposal) YAML() []byte {
	if p.text == nil {
		return nil
	}
	var b strings.Builder
	for _, line := range p.comments() {
		b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
	}
	p.text.write(&b)
	return []byte(b.String())
}

func (f *file) write(b *strings.Builder) {
	line := func(indent, key, value string) {
		if value != "" {
			b.WriteString(indent + key + ": " + scalar(value) + "\n")
		}
	}
	called := func(indent string, c profile.Called) {
		if c.One != "" {
			b.WriteString(indent + "called: {one: " + scalar(c.One) + ", many: " + scalar(c.Many) + "}\n")
		}
	}
	line("", "name", f.name)
	b.WriteString("\ntenants:\n")
	line("  ", "collection", f.directory)
	line("  ", "id", f.id)
	line("  ", "name", f.title)
	line("  ", "createdAt", f.created)
	called("  ", f.tenant)
	b.WriteString("\ndocuments:\n")
	line("  ", "collection", f.documents.name)
	line("  ", "tenant", f.documents.tenant)
	line("  ", "key", f.documents.key)
	line("  ", "removedAt", f.removed)
	line("  ", "createdAt", f.documents.created)
	line("  ", "updatedAt", f.changed)
	called("  ", f.documents.called)
	f.documents.writeKey(b, "  ")
	if len(f.rest) > 0 {
		b.WriteString("\ncollections:\n")
	}
	for _, c := range f.rest {
		b.WriteString("  - name: " + scalar(c.name) + "\n")
		line("    ", "tenant", c.tenant)
		line("    ", "document", c.document)
		c.writeKey(b, "    ")
	}
}

// writeKey writes the shard key of a sharded collection.
func (r row) writeKey(b *strings.Builder, indent string) {
	if r.shardKey == nil {
		return
	}
	var parts []string
	for _, f := range r.shardKey.Fields() {
		kind := "1"
		if f.Hashed {
			kind = "hashed"
		}
		parts = append(parts, scalar(f.Name)+": "+kind)
	}
	b.WriteString(fmt.Sprintf("%s%s: {%s}\n", indent, keyField, strings.Join(parts, ", ")))
}

// comments are the reasons, what could not be read and the preview, a sentence a line.
func (p Proposal) comments() []string {
	out := []string{"Proposed by shardboard from what the cluster has. Read it, change what you know better, and use it:",
		"    shardboard serve --uri-file uri.txt --profile " + FileName(p.text.name), ""}
	out = append(out, p.Reasons...)
	if len(p.Unread) > 0 {
		out = append(out, "", "Not everything could be read, so look twice:")
		out = append(out, p.Unread...)
	}
	if lines := p.preview(); len(lines) > 0 {
		out = append(out, "", "Some of the "+strings.ToLower(p.TenantWords().Many)+" and what they hold now:")
		out = append(out, lines...)
	}
	for i := range out {
		out[i] = sanitize.Sentence(out[i])
	}
	return append(out, "")
}

// FileName is the name of the file of a profile.
func FileName(profile string) string {
	var b strings.Builder
	for _, c := range profile {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			b.WriteRune(c)
		}
	}
	if b.Len() == 0 {
		return "profile.yaml"
	}
	return b.String() + ".yaml"
}
