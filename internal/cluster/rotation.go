package cluster

import (
	"context"
	"maps"
	"os"
	"sync"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
)

// fileCheckInterval is how often Watch looks at the files of the address.
const fileCheckInterval = 5 * time.Second

// rotation is what is known of the files of an address: the one that holds it, and the
// certificates that it names.
type rotation struct {
	file string        // that holds the address; "" when it was given itself
	wake chan struct{} // look now

	trying attempts // to use the newest content

	mu       sync.Mutex
	stamps   map[string]stamp // of the files whose content is in use
	seen     map[string]stamp // of the newest ones, which are not
	err      error            // why not
	replaced time.Time
}

// stamp tells whether a file is the same.
type stamp struct {
	modified time.Time
	size     int64
}

func (r *rotation) init(file string, uri URI) {
	r.file, r.stamps, r.wake = file, stampsOf(file, uri), make(chan struct{}, 1)
}

// look makes Watch look at the files now.
func (r *rotation) look() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *rotation) report() (failure string, replaced time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil && fault.Of(r.err) == fault.Invalid: // which may name a path
		failure = "It cannot be read, or holds no valid address or certificate; the log has the cause."
	case r.err != nil:
		failure = fault.Text(r.err)
	}
	return failure, r.replaced
}

// stampsOf are the stamps of all files of an address.
func stampsOf(file string, uri URI) map[string]stamp {
	out := map[string]stamp{}
	for _, name := range append(uri.files(), file) {
		if name == "" {
			continue
		}
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			out[name] = stamp{info.ModTime(), info.Size()}
		} else {
			out[name] = stamp{}
		}
	}
	return out
}

// Watch takes over changed credentials until the context ends: another content of the
// file with the address, or of a certificate that the address names. It looks every few
// seconds, and at once when the cluster refuses the credentials. New content is tried
// beside the old; what does not work changes nothing and is reported.
func (c *Client) Watch(ctx context.Context) error {
	for {
		c.rotation.sleep(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.checkFiles(ctx)
	}
}

func (r *rotation) sleep(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-r.wake:
			cancel()
		case <-ctx.Done():
		}
	}()
	_ = clock.Sleep(ctx, fileCheckInterval)
}

// checkFiles takes over the content of the files, if it is another one and works. What
// failed is tried again, with a growing pause: the cluster may learn of a password later
// than we do.
func (c *Client) checkFiles(ctx context.Context) {
	r := &c.rotation
	now := stampsOf(r.file, c.URI())
	switch same, refused := r.compare(now); {
	case same:
		r.settle(now, nil)
		return
	case refused && r.trying.pausing(time.Now()) != nil:
		return
	case !refused:
		r.trying.forget()
	}
	began := time.Now()
	uri, err := c.changedAddress()
	if err == nil {
		err = c.replace(ctx, uri)
	}
	if ctx.Err() != nil {
		return
	}
	r.trying.note(began, err)
	if err == nil {
		now = stampsOf(r.file, uri)
	}
	switch news := r.settle(now, err); {
	case err != nil && news:
		c.log.Error("the changed address of the cluster is not used; the old one stays", "err", err)
	case err == nil:
		c.log.Info("the changed address of the cluster is in use", "cluster", uri.Hosts())
	}
}

// compare reports whether files are those in use, or those that were refused.
func (r *rotation) compare(now map[string]stamp) (same, refused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Equal(now, r.stamps), r.err != nil && maps.Equal(now, r.seen)
}

// settle notes how it went with the content of files, and whether that is news.
func (r *rotation) settle(now map[string]stamp, err error) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		news = r.err == nil || fault.Text(r.err) != fault.Text(err)
		r.seen, r.err = now, err
		return news
	}
	if !maps.Equal(now, r.stamps) {
		r.replaced = time.Now()
	}
	r.stamps, r.seen, r.err = now, nil, nil
	return false
}

// changedAddress reads the address and its certificates again.
func (c *Client) changedAddress() (URI, error) {
	uri := c.URI()
	if c.rotation.file != "" {
		return ReadURI(c.rotation.file)
	}
	return uri, uri.checkFiles()
}

// replace opens a pool for an address beside the one in use, and takes its place when it
// reaches the same cluster. Requests that use the old one end there.
func (c *Client) replace(ctx context.Context, uri URI) error {
	p, err := c.newPool(uri)
	if err != nil {
		return err
	}
	p.enter()
	defer p.release()
	if err := c.tryOut(ctx, p); err != nil {
		p.disconnect()
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		go p.disconnect()
		return nil
	}
	old := c.pool
	c.pool, c.address = p, uri
	if old != nil {
		c.retired[old] = struct{}{}
		old.retire()
		go c.closeIdle(old)
	}
	return nil
}

// tryOut checks that a pool reaches the cluster that was reached before, with its credentials.
func (c *Client) tryOut(ctx context.Context, p *pool) error {
	ctx, cancel := context.WithTimeout(ctx, 2*c.timeout)
	defer cancel()
	probe := &Client{o: c.o, timeout: c.timeout, log: c.log, address: p.uri, pool: p}
	if err := probe.firstHello(ctx, p); err != nil {
		return err
	}
	id, err := probe.clusterIDOf(ctx, p)
	if err != nil {
		return err
	}
	switch known := c.clusterID.Load(); {
	case known == nil || *known == "" || *known == id:
		return nil
	case id == "":
		return fault.New(fault.Forbidden, "The user of the changed address may not read config.version, which the old one may: grant it "+
			"the roles of docs/roles.md.")
	}
	return fault.New(fault.Conflict, "The changed address leads to another cluster (%s); restart shardboard to look at that one.", id)
}

// closeIdle closes a replaced pool when nobody uses it any more.
func (c *Client) closeIdle(p *pool) {
	<-p.idle // commands have deadlines, and Close ends them
	c.mu.Lock()
	_, mine := c.retired[p]
	delete(c.retired, p)
	c.mu.Unlock()
	if mine {
		p.disconnect()
	}
}
