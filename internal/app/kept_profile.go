package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	answers "shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/profile"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// keptEvery is how often replicas look whether another one has kept a profile.
const keptEvery = 10 * time.Second

// keptProfile is a proposed profile that an admin has kept for a cluster. It is stored under the cluster's id, and used
// where no other is given.
type keptProfile struct {
	store   store.Store
	trail   auditAppender
	log     *slog.Logger
	watcher *topology.Watcher
	from    *proposer
	given   bool   // a profile is given by a flag or the configuration
	text    string // the kept profile in use; "" = none
	renew   func() // makes the parts of the cluster anew
}

// auditAppender is the record of what people do.
type auditAppender interface {
	Append(ctx context.Context, e store.AuditEntry) (store.AuditRecord, error)
}

// kept is the stored form.
type kept struct {
	YAML string    // as --profile reads it; "" = none is kept any more
	By   string    // principal id
	At   time.Time // when it was kept
}

func keptKey(cluster string) string { return "profile.kept." + cluster }

// readKept is the profile that is kept for a cluster; nil if there is none or it is not readable, which is logged.
func readKept(ctx context.Context, s store.Settings, cluster string, log *slog.Logger) (*profile.Profile, string) {
	k, err := storedKept(ctx, s, cluster)
	if err == nil && k.YAML != "" {
		var p *profile.Profile
		if p, err = profile.Parse("the kept profile", []byte(k.YAML)); err == nil {
			return p, k.YAML
		}
	}
	if err != nil {
		log.Warn("the kept profile cannot be read; the built-in one is used", "err", err)
	}
	return nil, k.YAML // of one that cannot be used too: it is not read again
}

func storedKept(ctx context.Context, s store.Settings, cluster string) (k kept, err error) {
	if cluster == "" {
		return k, nil
	}
	text, err := s.Setting(ctx, keptKey(cluster))
	if fault.Of(err) == fault.NotFound {
		return k, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &k)
	}
	return k, err
}

// WhyNot says why no profile can be kept here; "" if one can.
func (k *keptProfile) WhyNot() string {
	switch {
	case k.given:
		return "A profile is given by --profile, SHARDBOARD_PROFILE or the configuration file. " +
			"Leave it out there, or put the proposed file there."
	case k.watcher.Table().ClusterID == "":
		return "The cluster's id is not known, and a profile is kept under it: the cluster user needs find on config.version."
	}
	return ""
}

// Using tells whether the profile in use was kept.
func (k *keptProfile) Using() bool { return k.text != "" }

// Keep stores the proposed profile and has it used at once. hash is of the proposal that was looked at.
func (k *keptProfile) Keep(ctx context.Context, by store.AuditEntry, hash string) error {
	got, made := k.from.Proposal()
	if !made {
		return fault.New(fault.Unavailable, "The cluster is being read for a proposal. Try again in a minute.")
	}
	if err := got.Nothing(); err != nil {
		return err
	}
	text := got.YAML()
	if answers.ProposalHash(text) != hash {
		return fault.New(fault.Conflict, "The proposal has changed since it was shown. Look at it again, and keep it then.")
	}
	by.What, by.Subject, by.Details = "profile.kept", got.Profile.Name, map[string]string{"sha256": hash, "db": got.Database}
	return k.set(ctx, by, string(text))
}

// Drop has the built-in profile used again.
func (k *keptProfile) Drop(ctx context.Context, by store.AuditEntry) error {
	if k.text == "" {
		return fault.New(fault.Conflict, "No profile is kept for this cluster.")
	}
	by.What = "profile.dropped"
	return k.set(ctx, by, "")
}

func (k *keptProfile) set(ctx context.Context, by store.AuditEntry, text string) error {
	if why := k.WhyNot(); why != "" {
		return fault.New(fault.Conflict, "%s", why)
	}
	now := time.Now().UTC()
	by.Cluster, by.At, by.Outcome = k.watcher.Table().ClusterID, now, "ok"
	if _, err := k.trail.Append(ctx, by); err != nil {
		return err
	}
	raw, err := json.Marshal(kept{YAML: text, By: by.By, At: now})
	if err == nil {
		err = k.store.SetSetting(ctx, keptKey(by.Cluster), string(raw))
	}
	if err != nil {
		by.Outcome = "failed"
		_, _ = k.trail.Append(context.WithoutCancel(ctx), by) // the first entry is there
		return err
	}
	k.log.Info("the profile is another one now", "what", by.What, "by", by.By)
	k.renew()
	return nil
}

// run has the cluster's parts made anew when the kept profile is another one than they have: of a cluster that was not
// known before, or because another replica keeps one.
func (k *keptProfile) run(ctx context.Context) error {
	if k.given {
		return nil
	}
	table, changed, end := k.watcher.Subscribe()
	defer end()
	var again <-chan time.Time
	if k.store.Leader().Shared {
		ticker := time.NewTicker(keptEvery)
		defer ticker.Stop()
		again = ticker.C
	}
	id, due := "", false
	for {
		if now := table.ClusterID; now != id {
			id, due = now, true
		}
		if due {
			if is, err := storedKept(ctx, k.store, id); err == nil && is.YAML != k.text {
				k.renew()
				return nil
			}
		}
		due = false
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			table = k.watcher.Table()
		case <-again:
			due = true
		}
	}
}
