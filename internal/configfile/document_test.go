package configfile

import (
	"os"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestTheDocumentHasEveryKeyOfACluster(t *testing.T) {
	page := must.Get(os.ReadFile("../../docs/config.md"))
	_, section, _ := strings.Cut(string(page), "\n## A cluster\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for key := range clusterKeys {
		expect.Contains(t, section, "`"+key+"`", "docs/config.md does not have %s below \"A cluster\"", key)
	}
}
