package realcluster

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// one finds the process of a name: a router, or the primary of the config server or of a shard. While a
// set has no primary that answers, it is the first member.
func (c *Cluster) one(ctx context.Context, name string) (*member, error) {
	for _, r := range c.routers {
		if r.name == name {
			return r, nil
		}
	}
	s, err := c.setOf(name)
	if err != nil {
		return nil, err
	}
	if p := s.currentPrimary(ctx); p != nil {
		return p, nil
	}
	return s.members[0], nil
}

func (c *Cluster) setOf(name string) (*set, error) {
	if c.config != nil && name == c.config.name {
		return c.config, nil
	}
	for _, s := range c.shards {
		if s.name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("the cluster has no member %s", name)
}

// Freeze stops the primary of a shard or of the config server, or a router, as SIGSTOP does.
func (c *Cluster) Freeze(ctx context.Context, name string) error {
	m, err := c.one(ctx, name)
	if err != nil {
		return err
	}
	return m.freeze()
}

// Thaw lets all that is frozen go on.
func (c *Cluster) Thaw() error {
	for _, m := range c.members() {
		if err := m.thaw(); err != nil {
			return fmt.Errorf("%s does not go on: %w", m.name, err)
		}
	}
	return nil
}

// Kill ends the primary of a shard or of the config server, or a router, at once.
func (c *Cluster) Kill(ctx context.Context, name string) error {
	m, err := c.one(ctx, name)
	if err != nil {
		return err
	}
	m.kill()
	return nil
}

// Restart starts again what does not run of a shard, of the config server or of the routers, after
// ending what runs, and waits until it can be used.
func (c *Cluster) Restart(ctx context.Context, name string) error {
	if m, err := c.one(ctx, name); err == nil && m.program == c.servers.Mongos {
		m.terminate(ctx)
		return m.again(ctx)
	}
	s, err := c.setOf(name)
	if err != nil {
		return err
	}
	var together errgroup.Group
	for _, m := range s.members {
		together.Go(func() error {
			m.terminate(ctx)
			return m.again(ctx)
		})
	}
	if err := together.Wait(); err != nil {
		return err
	}
	_, err = s.primary(ctx)
	return err
}

// Revive starts again what was killed, and lets go on what is frozen.
func (c *Cluster) Revive(ctx context.Context) error {
	if err := c.Thaw(); err != nil {
		return err
	}
	var together errgroup.Group
	for _, m := range c.members() {
		if m.hasEnded() {
			together.Go(func() error { return m.again(ctx) })
		}
	}
	if err := together.Wait(); err != nil {
		return err
	}
	for _, s := range c.sets() {
		if _, err := s.primary(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) sets() (all []*set) {
	if c.config != nil {
		all = append(all, c.config)
	}
	return append(all, c.shards...)
}

// StepDown makes the primary of a shard or of the config server step down, and waits for the next one.
func (c *Cluster) StepDown(ctx context.Context, name string) error {
	s, err := c.setOf(name)
	if err != nil {
		return err
	}
	return s.stepDown(ctx)
}

// Addresses are those of all members but the routers: what a test asks that looks for things left on
// any member.
func (c *Cluster) Addresses() map[string]string {
	all := make(map[string]string)
	for _, s := range c.sets() {
		for _, m := range s.members {
			all[m.name] = m.address()
		}
	}
	return all
}
