// Package playbooks is the text of the playbooks, for the pages below /help. It is part of the program, because whoever
// needs a playbook may have no other network than that of the cluster.
package playbooks

import (
	"embed"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Files are the playbooks, by name: "hot-project.md".
//
//go:embed *.md
var Files embed.FS

var planned = regexp.MustCompile("shardboard plan ([a-z-]+)")

// byChange are the names of playbooks by the kinds of change that they plan. The files are part of the program, so one
// that cannot be read is a mistake that every start shows.
var byChange = sync.OnceValue(func() map[string][]string {
	files, err := fs.Glob(Files, "*.md")
	if err != nil {
		panic(err)
	}
	out := map[string][]string{}
	for _, file := range files {
		text, err := Files.ReadFile(file)
		if err != nil {
			panic(err)
		}
		name := strings.TrimSuffix(file, path.Ext(file))
		for _, m := range planned.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(out[m[1]], name) {
				out[m[1]] = append(out[m[1]], name)
			}
		}
	}
	return out
})

// ForChange returns the names of the playbooks that say when a kind of change, such as "split-hot", is the right one:
// those that have its command.
func ForChange(kind string) []string { return byChange()[kind] }
