package configfile

import (
	"os"
	"strings"
	"testing"
)

func TestTheDocumentHasEveryKeyOfACluster(t *testing.T) {
	page, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## A cluster\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for key := range clusterKeys {
		if !strings.Contains(section, "`"+key+"`") {
			t.Errorf("docs/config.md does not have %s below \"A cluster\"", key)
		}
	}
}
