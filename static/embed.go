// Package static has what browsers load besides pages: style sheets (served as one), an icon and a few
// ES modules, embedded, minified at the start and served under addresses with a hash of the content. An
// address therefore always has the same content and may be cached forever; a new build has new addresses.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
)

// FS holds the files as in the source tree.
//
//go:embed css/*.css icon.svg js/*.js
var FS embed.FS

// styleSheets are the files of css/ in the order in which app.css has them: of rules with the same
// weight a browser takes the last one.
var styleSheets = []string{
	"theme",
	"page",
	"icons",
	"palette",
	"shards_bars",
	"shard_patterns",
	"tables",
	"grid", "lists",
	"forms",
	"keyspace",
	"locate",
	"layout",
	"advice", "help",
	"why",
	"waterfall", "chunk", "heat", "map", "map_bands", "lab_growth",
	"time_travel",
	"histogram",
	"moves",
	"changes",
	"glow",
	"tour",
	"lab",
	"narrow",
	"phone_menu", "clusters", "long_names", "phone_targets", "print",
}

// Colours of shards, and patterns of those beyond them.
const (
	shardColors   = 12
	shardPatterns = 8
)

// Prefix is where the files are served.
const Prefix = "/static/"

// hashBytes is how much of the hash of a file is in its address.
const hashBytes = 6

// Asset is one served file.
type Asset struct {
	Name string // in FS, or app.css
	URL  string // with the hash
	Type string // media type
	Body []byte
	Gzip []byte // nil when compression does not pay
}

// table is all assets by source name and by address.
type table struct {
	byName   map[string]*Asset
	byURL    map[string]*Asset
	asSource bool // served as written, not minified
	files    fs.FS
}

// built is computed at first use and never changes.
var built = sync.OnceValue(func() *table { return build(FS, os.Getenv(assetsVariable) == "source") })

// URL is the address of a file of FS ("js/app.js"), or of app.css, which has all style sheets, for
// templates. Addresses are flat, without the folder. An unknown name gives an address that answers 404;
// a test checks every name used.
func URL(name string) string {
	if a := built().byName[name]; a != nil {
		return a.URL
	}
	return Prefix + name
}

// Open returns an asset by its address.
func Open(url string) (Asset, bool) {
	a := built().byURL[url]
	if a == nil {
		return Asset{}, false
	}
	return *a, true
}

// Assets returns all assets by name.
func Assets() []Asset {
	var out []Asset
	for _, a := range built().byName {
		out = append(out, *a)
	}
	slices.SortFunc(out, func(a, b Asset) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func build(files fs.FS, asSource bool) *table {
	t := &table{byName: map[string]*Asset{}, byURL: map[string]*Asset{}, asSource: asSource, files: files}
	var names []string
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(name) != ".css" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		panic("static: embedded files cannot be listed: " + err.Error())
	}
	for _, name := range names {
		t.addFile(name, names)
	}
	styles := t.allStyles()
	if !asSource {
		styles = minified("app.css", styles)
	}
	t.add("app.css", styles)
	return t
}

func (t *table) allStyles() []byte {
	var all bytes.Buffer
	for _, name := range styleSheets {
		all.Write(t.read("css/" + name + ".css"))
		if name == "shard_patterns" {
			writePatternFills(&all)
		}
	}
	return all.Bytes()
}

// writePatternFills writes the rule for the fill of each pattern in each colour of shards. The names are those that
// templates/swatch.go gives the patterns; a style sheet cannot put a name together.
func writePatternFills(to io.Writer) {
	for pattern := 1; pattern <= shardPatterns; pattern++ {
		for color := 1; color <= shardColors; color++ {
			_, _ = fmt.Fprintf(to, ".p%d.s%d { --f: url(#p%[1]ds%[2]d) var(--c); }\n", pattern, color)
		}
	}
}

func (t *table) read(name string) []byte {
	body, err := fs.ReadFile(t.files, name)
	if err != nil {
		panic("static: embedded file cannot be read: " + err.Error())
	}
	return body
}

// addFile adds a file of FS. The modules it imports come first, because their hashed names are part of
// its content: a browser resolves import addresses itself, and an import map would have to be an inline
// script, which the content security policy forbids. Modules must not import each other in a cycle.
func (t *table) addFile(name string, names []string) *Asset {
	if a := t.byName[name]; a != nil {
		return a
	}
	source := t.read(name)
	code := minified(name, source)
	body := code
	if t.asSource {
		body = source
	}
	if path.Ext(name) == ".js" {
		for _, other := range names {
			// Looked for in code without comments: types are imported in comments, in cycles too.
			quoted := []byte(`"./` + path.Base(other) + `"`)
			if other != name && path.Ext(other) == ".js" && bytes.Contains(code, quoted) {
				hashed := path.Base(t.addFile(other, names).URL)
				body = bytes.ReplaceAll(body, quoted, []byte(`"./`+hashed+`"`))
			}
		}
	}
	return t.add(name, body)
}

// add hashes and compresses what is served under a name.
func (t *table) add(name string, body []byte) *Asset {
	sum := sha256.Sum256(body)
	base, ext := path.Base(name), path.Ext(name)
	a := &Asset{
		Name: name,
		URL:  Prefix + strings.TrimSuffix(base, ext) + "." + hex.EncodeToString(sum[:hashBytes]) + ext,
		Type: mediaType(ext),
		Body: body,
		Gzip: squeeze(body),
	}
	t.byName[name], t.byURL[a.URL] = a, a
	return a
}

func mediaType(ext string) string {
	switch ext {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/octet-stream"
}

func squeeze(body []byte) []byte {
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil
	}
	if _, err := w.Write(body); err != nil {
		return nil
	}
	if err := w.Close(); err != nil || buf.Len() >= len(body) {
		return nil
	}
	return buf.Bytes()
}
