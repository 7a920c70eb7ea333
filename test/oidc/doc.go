// Package oidc tests sign-in with the real binary and an independent OpenID Connect
// provider: the example server of github.com/zitadel/oidc with its sign-in form. It is
// a separate module, so that the provider and its dependencies are not part of the
// product.
package oidc
