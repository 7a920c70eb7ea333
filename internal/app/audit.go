package app

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// DefaultAuditKey is where the key that signs the audit record is kept: among
// the person's configuration, away from the data.
func DefaultAuditKey() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fault.Wrap(fault.Invalid, err, "There is no configuration directory to keep the audit key in. Say where with --audit-key.")
	}
	return filepath.Join(dir, "shardboard", "audit.key"), nil
}

// auditTrail is the record and its keeper, as the web wants them.
type auditTrail struct {
	store.Store
	*audit.Keeper
}

// AuditNames are the names of all accounts and tokens, ended ones too, and of
// people who came by OIDC.
func (t auditTrail) AuditNames(ctx context.Context) (map[string]string, error) {
	users, err := t.Users(ctx)
	if err != nil {
		return nil, err
	}
	tokens, err := t.Tokens(ctx, "")
	if err != nil {
		return nil, err
	}
	names, err := auth.PeopleNames(ctx, t)
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		names["user:"+u.ID] = u.Name
	}
	for _, k := range tokens {
		names["token:"+k.ID] = k.Name
	}
	return names, nil
}

// keepAudit makes the keeper of a store's audit record. A process that does
// not own the data only verifies. Without a path the key lives as long as the
// process, which is for demos: their record is gone with them.
func keepAudit(s store.Store, dataDir, keyPath string, log *slog.Logger) (auditTrail, error) {
	o := audit.Options{Log: log}
	var err error
	switch {
	case !s.Owner():
	case keyPath == "":
		if _, o.Key, err = ed25519.GenerateKey(rand.Reader); err != nil {
			return auditTrail{}, fmt.Errorf("make audit key: %w", err)
		}
	default:
		if o.Key, err = audit.OpenKey(keyPath, dataDir); err != nil {
			return auditTrail{}, err
		}
		if dataDir == "" {
			break // a temporary one has nothing to be held against
		}
		if o.Witness, err = audit.WitnessOf(keyPath, dataDir); err != nil {
			return auditTrail{}, err
		}
	}
	return auditTrail{s, audit.NewKeeper(s, o)}, nil
}
