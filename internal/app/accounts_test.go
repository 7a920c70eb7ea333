package app

import (
	"log/slog"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestAccountsAreSharedByServerAndCommandLine(t *testing.T) {
	d := stillDemo()
	ctx, dir, quiet := t.Context(), t.TempDir(), slog.New(slog.DiscardHandler)
	local, err := OpenAccounts(ctx, StorePlace{Dir: dir}, "", quiet)
	must.Do(t, err)
	key, err := local.CreateToken(ctx, api.TokenCreate{Name: "cli", Role: "admin", Expires: time.Now().Add(time.Hour)})
	must.Do(t, err)
	must.Do(t, local.Close())
	a := d.startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: dir, Auth: Auth{Mode: "local"}})
	if _, err := OpenAccounts(ctx, StorePlace{Dir: dir}, "", quiet); fault.Of(err) != fault.Conflict {
		t.Errorf("opening a directory that a server owns: %v, expected a refusal", err)
	}
	remote, err := ReadRemote(a.URL(), key.Secret, "")
	must.Do(t, err)
	accounts := remote.Accounts()
	must.Do(t, must.Err(accounts.CreateUser(ctx, api.UserCreate{Name: "anna", Password: "correct horse battery", Role: "viewer"})))
	role, yes := "support", true
	must.Do(t, accounts.ChangeUser(ctx, "anna", api.UserChange{Role: &role, Disabled: &yes}))
	if err := accounts.ChangeUser(ctx, "nobody", api.UserChange{Role: &role}); fault.Of(err) != fault.NotFound {
		t.Errorf("changing an unknown user: %v, expected a refusal", err)
	}
	users, err := accounts.Users(ctx)
	expect.That(t, err == nil && len(users) == 1 && users[0].Role == "support" && users[0].Disabled, "users are %+v, %v", users, err)
	made, err := accounts.CreateToken(ctx, api.TokenCreate{Name: "ci", Role: "viewer", Expires: time.Now().Add(time.Minute)})
	must.That(t, err == nil && made.Secret != "", "%v", err)
	expect.NoError(t, accounts.RevokeToken(ctx, made.ID), "RevokeToken")
	tokens, err := accounts.Tokens(ctx)
	expect.That(t, err == nil && len(tokens) == 2, "tokens are %+v, %v", tokens, err)
	weak, err := ReadRemote(a.URL(), made.Secret, "")
	must.Do(t, err)
	expect.That(t, must.Err(weak.Accounts().Users(ctx)) != nil, "a revoked token is accepted")
}
