package mongosh_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"shardboard/docs/playbooks"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

var scriptBlock = regexp.MustCompile("(?ms)^```js\n(.*?)^```$")

// TestMongoshLinesOfThePlaybooksWork runs each line as somebody who copies it, on the releases at both ends.
func TestMongoshLinesOfThePlaybooksWork(t *testing.T) {
	path := mongoshPath(t)
	files, err := fs.Glob(playbooks.Files, "*.md")
	must.That(t, err == nil && len(files) >= 7, "%v %v", files, err)
	var script strings.Builder
	for _, file := range files {
		source := must.Get(playbooks.Files.ReadFile(file))
		blocks := scriptBlock.FindAllStringSubmatch(string(source), -1)
		expect.That(t, len(blocks) != 0, "%s has nothing to cross-check in mongosh", file)
		for _, block := range blocks {
			script.WriteString("print('" + file + "')\n" + block[1])
		}
	}
	script.WriteString("print('all done')\n")
	name := filepath.Join(t.TempDir(), "playbooks.js")
	must.Do(t, os.WriteFile(name, []byte(script.String()), 0o600))
	for _, release := range []string{"5.0", "8.0"} {
		uri := startCluster(t, simcluster.Options{ServerVersion: release, Projects: 3, Documents: 20, Still: true})
		if out := runMongosh(t, path, "--file", name, uri); !strings.HasSuffix(strings.TrimSpace(out), "all done") {
			t.Errorf("%s: %s", release, out)
		}
	}
}
