package static

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// The type checker itself runs with the longer tests. Here is what would make it look away.
func TestScriptsHaveNoWayAroundTheTypeChecker(t *testing.T) {
	text := must.Get(os.ReadFile("../tools/tsconfig.json"))
	var config struct {
		CompilerOptions map[string]any
		Include         []string
	}
	must.Do(t, json.Unmarshal(text, &config))
	for option, want := range map[string]any{"strict": true, "checkJs": true, "noImplicitAny": nil, "strictNullChecks": nil} {
		expect.Equal(t, config.CompilerOptions[option], want, "%s", option)
	}
	if strings.Join(config.Include, " ") != "../static/js/*.js" {
		t.Errorf("%v is checked, not all scripts", config.Include)
	}
	around := regexp.MustCompile(`@ts-\w+|@\w+ .*[{<|(,:]\s*any\b\s*[}>|)\[,;&]|\{\*\}`)
	files, err := FS.ReadDir("js")
	must.That(t, err == nil && len(files) >= 40, "%d scripts: %v", len(files), err)
	for _, f := range files {
		for i, line := range strings.Split(string(built().read("js/"+f.Name())), "\n") {
			expect.Equal(t, around.FindString(line), "", "%s:%d", f.Name(), i+1)
		}
	}
}
