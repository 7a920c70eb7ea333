// Package oidc signs people in to the real binary at an OpenID Connect provider
// that others wrote: the example server of github.com/zitadel/oidc, through its own
// sign-in form. It is a module of its own: the provider and what it needs are no
// part of the product.
package oidc
