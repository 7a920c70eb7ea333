package app

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/store/keyfile"
	"shardboard/internal/store/seal"
)

// DefaultAuditKey is the default path of the key that signs the audit record. It is in the user's
// configuration directory, outside the data directory.
func DefaultAuditKey() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fault.Wrap(fault.Invalid, err, "There is no configuration directory to keep the audit key in. Say where with --audit-key.")
	}
	return filepath.Join(dir, "shardboard", "audit.key"), nil
}

// auditTrail is the audit record and its keeper; it implements web.AuditTrail.
type auditTrail struct {
	store.Store
	*audit.Keeper
	witness string // path of the witness file; "" without one
}

// AuditNames returns the names of all accounts and tokens, including disabled and revoked ones, and
// of OIDC users.
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

// BoundTokens returns the clusters of tokens that are bound to some, also of revoked ones.
func (t auditTrail) BoundTokens(ctx context.Context) (map[string][]string, error) {
	tokens, err := t.Tokens(ctx, "")
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, k := range tokens {
		if len(k.Clusters) > 0 {
			out["token:"+k.ID] = slices.Collect(maps.Keys(k.Clusters))
		}
	}
	return out, nil
}

// auditKey is the key that signs the audit record.
func (c Config) auditKey() (ed25519.PrivateKey, error) {
	if c.AuditKeyFrom != "" {
		return keyfile.Audit.Read(c.AuditKeyFrom)
	}
	return keyfile.Audit.Open(c.AuditKey, c.DataDir)
}

// SessionKeyName is the name of the session key where nobody says where it is: beside the audit key.
const SessionKeyName = "session.key"

// sessionKey is the key that seals sessions, approvals and what replicas ask of their leader; zero for a process whose
// data is temporary. It is made for a data directory. A shared store has one that somebody gave to all replicas.
func (c Config) sessionKey() (seal.Key, error) {
	at, open := c.SessionKey, func(path string) (ed25519.PrivateKey, error) { return keyfile.Sessions.Open(path, c.DataDir) }
	switch {
	case !c.Store.IsZero():
		if err := c.checkSessionKey(); err != nil {
			return seal.Key{}, err
		}
		open = keyfile.Sessions.Read
	case at == "" && c.AuditKey == "":
		return seal.Key{}, nil
	case at == "":
		at = filepath.Join(filepath.Dir(c.AuditKey), SessionKeyName)
	}
	key, err := open(at)
	if err != nil {
		return seal.Key{}, err
	}
	return seal.KeyOf(key), nil
}

// checkSessionKey refuses a shared store without a session key: whoever writes the store could be anybody.
func (c Config) checkSessionKey() error {
	if c.Store.IsZero() || c.SessionKey != "" {
		return nil
	}
	return fault.New(fault.Invalid, "A store that replicas share needs --session-key: with it they tell their own sessions, approvals and "+
		"requests from rows that somebody else wrote. Make one, and give the same file to all replicas: "+
		"(umask 077; openssl genpkey -algorithm ed25519 -out %s)", SessionKeyName)
}

// keepAudit makes the keeper of a store's audit record. A process that does not own the data only
// verifies the record, also against the witness. Without a path the key lives as long as the
// process; that is for demos, whose record is temporary too.
func keepAudit(s store.Database, c Config) (auditTrail, error) {
	dataDir, keyPath, log := c.DataDir, c.AuditKey, c.Log
	o := audit.Options{Log: log}
	var err error
	switch {
	case !s.Owner():
	case keyPath == "":
		if _, o.Key, err = ed25519.GenerateKey(rand.Reader); err != nil {
			return auditTrail{}, fmt.Errorf("make audit key: %w", err)
		}
	default:
		if o.Key, err = c.auditKey(); err != nil {
			return auditTrail{}, err
		}
		_, notes, err := fileperm.ParentDir("audit key", keyPath)
		if err != nil {
			return auditTrail{}, err
		}
		for _, note := range notes {
			log.Warn(note)
		}
	}
	switch {
	case keyPath == "":
	case s.Leader().Shared:
		o.Witness = audit.WitnessOfStore(keyPath, s.Place())
	case dataDir != "": // a temporary directory has no earlier state
		if o.Witness, err = audit.WitnessOf(keyPath, dataDir); err != nil {
			return auditTrail{}, err
		}
	}
	if s.Leader().Shared {
		o.Leads = s.Leads
	}
	return auditTrail{s, audit.NewKeeper(s, o), string(o.Witness)}, nil
}
