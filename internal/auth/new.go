package auth

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"shardboard/internal/fault"
)

const (
	defaultIdle   = 8 * time.Hour
	defaultMax    = 7 * 24 * time.Hour
	oidcMax       = 12 * time.Hour // lifetime of an OIDC session: the issuer is asked again each working day
	breakGlassMax = time.Hour

	causeBurst = 10
	causePause = 10 * time.Second
)

// New checks the options. It starts no goroutine.
func New(o Options) (*Service, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	root := ""
	if o.PublicURL != "" {
		var err error
		if root, err = PublicRoot(o.PublicURL); err != nil {
			return nil, err
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	if o.Max == 0 {
		o.Max = defaultMax
	}
	if o.Proxy.Role == "" {
		o.Proxy.Role = Viewer
	}
	if o.FlowKey == nil {
		o.FlowKey = make([]byte, secretSize)
		if _, err := io.ReadFull(o.Random, o.FlowKey); err != nil {
			return nil, fmt.Errorf("draw key: %w", err)
		}
	}
	if o.Refusals == nil {
		o.Refusals = NewRefusals(o.Store, o.Log, o.Now)
	}
	return &Service{o: o, root: root, hashes: newHashes(o.Cost), limits: newLimits(o.Now),
		endSignals:       &endSignals{waiting: map[string]map[*func()]struct{}{}},
		recentProxyUsers: newRecentSignIns(), unreadHops: rate.Sometimes{First: 1, Interval: time.Hour},
		causes: rate.NewLimiter(rate.Every(causePause), causeBurst)}, nil
}

func (o Options) check() error {
	if _, err := ParseMode(string(o.Mode)); err != nil {
		return err
	}
	switch {
	case o.Store == nil:
		return fault.New(fault.Invalid, "Sign-in needs a store.")
	case o.Idle < 0 || o.Max < 0:
		return fault.New(fault.Invalid, "The lifetime and the idle timeout of sessions cannot be negative.")
	case o.Mode.Has(ModeProxy) && (o.Proxy.Header == "" || len(o.Proxy.CIDRs) == 0):
		return fault.New(fault.Invalid, "Sign-in by a proxy needs --proxy-header and the addresses it connects from, --proxy-cidr.")
	case o.Mode.Has(ModeProxy) && o.Proxy.checkHeaders() != nil:
		return o.Proxy.checkHeaders()
	case o.Proxy.Role != "" && !o.Proxy.Role.Known():
		return fault.New(fault.Invalid, "There is no role %q.", o.Proxy.Role)
	case o.Mode.Has(ModeOIDC) && o.Issuer == nil:
		return fault.New(fault.Invalid, "Sign-in by OIDC needs --oidc-issuer and --oidc-client-id.")
	case o.Mode.Has(ModeOIDC) && len(o.Roles) == 0 && !o.clustersAdmit():
		return fault.New(fault.Invalid, "Sign-in by OIDC needs --oidc-role-map: which group has which role. Without it nobody could sign in.")
	}
	for group, role := range o.Roles {
		if !role.Known() {
			return fault.New(fault.Invalid, "The group %q is mapped to %q, which is not a role.", group, role)
		}
	}
	return nil
}

// clustersAdmit reports whether a cluster has roles for groups or people at the issuer.
func (o Options) clustersAdmit() bool {
	if o.Clusters == nil {
		return false
	}
	for _, c := range o.Clusters() {
		for who, role := range c.Roles {
			if (IsGroup(who) || strings.HasPrefix(who, "oidc:")) && Role(role).Known() {
				return true
			}
		}
	}
	return false
}

// Mode returns the enabled sign-in methods.
func (s *Service) Mode() Mode { return s.o.Mode }

// Offers returns what the sign-in page can offer now.
func (s *Service) Offers(ctx context.Context) (Offers, error) {
	f := Offers{Password: s.o.Mode.Has(ModeLocal), OIDC: s.o.Mode.Has(ModeOIDC), Off: s.o.Mode.Off(), ReadOnly: !s.o.Store.Owner()}
	users, err := s.o.Store.Users(ctx)
	if err != nil {
		return Offers{}, err
	}
	ordinary := 0
	for _, u := range users {
		if u.BreakGlass && !u.Disabled {
			f.Password = true
		}
		if !u.BreakGlass {
			ordinary++
		}
	}
	if f.First = s.o.Mode.Has(ModeLocal) && ordinary == 0; f.First && !s.o.FirstLink {
		had, err := s.hadAdmin(ctx)
		f.First = !had
		return f, err
	}
	return f, nil
}
