package static

import (
	"bytes"
	"path"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/js"
)

// assetsVariable is an environment variable for developers. The value "source" serves scripts and style
// sheets as they were written, with comments and whole names.
const assetsVariable = "SHARDBOARD_ASSETS"

// minified is a script or a style sheet without what only people and the type checker read: comments, white
// space, long names of local variables. Other files stay as they are. The files are part of the program, so
// one that cannot be read is a mistake in it.
func minified(name string, body []byte) []byte {
	var out bytes.Buffer
	var err error
	switch path.Ext(name) {
	case ".js":
		err = (&js.Minifier{}).Minify(minify.New(), &out, bytes.NewReader(body), nil)
	case ".css":
		err = (&css.Minifier{}).Minify(minify.New(), &out, bytes.NewReader(body), nil)
	default:
		return body
	}
	if err != nil {
		panic("static: " + name + " cannot be minified: " + err.Error())
	}
	return out.Bytes()
}
