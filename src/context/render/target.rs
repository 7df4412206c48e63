//! Request bodies of providers, without any call.
