package yorkie_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yorkie-team/yorkie/server"
)

// TestYorkieTakesTheConfigurationThatComposeWrites has Yorkie read the file that deploy/compose/init/secrets.sh makes.
// A key that Yorkie does not know would silently leave its default.
func TestYorkieTakesTheConfigurationThatComposeWrites(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the script gives files to other users, which only root may")
	}
	secrets := t.TempDir()
	for _, name := range []string{"mongo", "init", "loader", "yorkie", "shardboard"} {
		must(t, os.Mkdir(filepath.Join(secrets, name), 0o755))
	}
	cmd := exec.CommandContext(t.Context(), "bash", "../../deploy/compose/init/secrets.sh")
	cmd.Env = append(os.Environ(), "SECRETS="+secrets)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	config, err := server.NewConfigFromFile(filepath.Join(secrets, "yorkie", "yorkie.yml"))
	must(t, err)
	if err := config.Validate(); err != nil {
		t.Error(err)
	}
	mongo := config.Mongo
	if mongo == nil || !strings.HasPrefix(mongo.ConnectionURI, "mongodb://yorkie:") || mongo.ConnectionTimeout != "60s" ||
		mongo.YorkieDatabase != database {
		t.Errorf("Yorkie reads %+v", mongo)
	}
	if config.RPC.Port != 8080 {
		t.Errorf("Yorkie listens to port %d, Compose publishes 8080", config.RPC.Port)
	}
}
