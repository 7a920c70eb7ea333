package realsuite_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/realcluster"
)

// The users that the product connects as, beside root.
const (
	viewerUser   = "shardboard-viewer"
	operatorUser = "shardboard-operator"
)

// roleBlock is a command of docs/roles.md with the text before it, which says since or before which
// release it applies.
var roleBlock = regexp.MustCompile("(?s)([^\n]*\n[^\n]*\n[^\n]*)\n```js\n" +
	`db\.getSiblingDB\("admin"\)\.runCommand\((\{.*?` + "\n" + `\})\)` + "\n```")

var releaseCondition = regexp.MustCompile(`(Since|Before) MongoDB (\d+)\.(\d+)(?:\.(\d+))?`)

// createUsers creates the two roles as docs/roles.md prints them, and a user of each.
func (w *world) createUsers() {
	w.Helper()
	page := must.Get(os.ReadFile("../../docs/roles.md"))
	ran := 0
	for _, block := range roleBlock.FindAllStringSubmatch(string(page), -1) {
		if !w.applies(block[1]) {
			continue
		}
		var command bson.D
		w.must(bson.UnmarshalExtJSON([]byte(block[2]), false, &command))
		w.admin(command)
		ran++
	}
	must.That(w, ran >= 2, "%d commands of docs/roles.md apply, want at least those that create the two roles", ran)
	for user, role := range map[string]string{viewerUser: "shardboardViewer", operatorUser: "shardboardOperator"} {
		w.admin(bson.D{{Key: "createUser", Value: user}, {Key: "pwd", Value: realcluster.RootPassword}, {Key: "roles", Value: bson.A{role}}})
	}
}

// applies reports whether a command of the page is for this release.
func (w *world) applies(text string) bool {
	m := releaseCondition.FindAllStringSubmatch(text, -1)
	if len(m) == 0 {
		return true
	}
	last := m[len(m)-1]
	has, wants := make([]int, 3), make([]int, 3)
	_, _ = fmt.Sscanf(w.cluster.Release(), "%d.%d.%d", &has[0], &has[1], &has[2])
	_, _ = fmt.Sscanf(strings.Join(last[2:], " "), "%d %d %d", &wants[0], &wants[1], &wants[2])
	if w.target.simulated {
		has[2] = 0 // the simulated release is a line of releases, of which it is the first but for 6.0 and 8.0
		has[2] = map[string]int{"6.0": 3, "8.0": 10}[w.cluster.Release()]
	}
	return (slices.Compare(has, wants) >= 0) == (last[1] == "Since")
}

// uriAs is the product's address for another user.
func (w *world) uriAs(user string) string {
	return strings.Replace(w.productURI(), "//"+realcluster.RootUser+":", "//"+user+":", 1)
}
