//! CTX720: an image too large for Anthropic.

use super::prelude::*;
use crate::base::base64;
use crate::kernel::conversation::MediaSource;

/// Screenshots are often larger than expected, and the limit is lower in requests with many images.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        720,
        "image-size",
        "an image that is too large for its vendor",
        case!("image-size"),
    ),
    check: Check::Request(check_request),
};

/// Maximum size of an image in base64, in bytes.
const MAX_BYTES: usize = 10 << 20;
/// Maximum pixels per side of an image, alone and among many.
const MAX_SIDES: (u32, u32) = (8000, 2000);
/// Number of images above which the lower limit applies.
const MAX_FEW_IMAGES: usize = 20;
/// Number of base64 characters that are decoded to find the size. The header of a photograph can
/// contain a preview.
const HEADER_CHARS: usize = 1 << 17;

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    if !cx.is_claude() {
        return;
    }
    let images: Vec<(&str, &str)> = cx
        .request
        .message_parts()
        .filter_map(|(_, placed)| {
            let Some(Part::Media(media)) = &placed.part else {
                return None;
            };
            let MediaSource::Base64(data) = &media.source else {
                return None;
            };
            media
                .is_image()
                .then_some((placed.pointer.as_str(), data.as_str()))
        })
        .collect();
    let (limit, of) = if images.len() > MAX_FEW_IMAGES {
        (
            MAX_SIDES.1,
            format!(" in a request with more than {MAX_FEW_IMAGES} images"),
        )
    } else {
        (MAX_SIDES.0, String::new())
    };
    for (pointer, data) in &images {
        let bytes = data.len();
        let found = pixel_size(data).filter(|(width, height)| (*width).max(*height) > limit);
        let message = match found {
            Some((width, height)) => {
                format!(
                    "found an image of {width} × {height} pixels; Anthropic accepts {limit} per side{of}"
                )
            }
            None if bytes > MAX_BYTES => {
                format!("found an image of {bytes} bytes in base64; Anthropic takes {MAX_BYTES}")
            }
            None => continue,
        };
        let help = "scale it down before sending: beyond 1,568 pixels per side the model sees no more detail";
        out.push(cx.finding(&RULE.meta, pointer, message).help(help));
    }
}

/// Returns width and height of a PNG or JPEG in base64; `None` for other formats.
fn pixel_size(data: &str) -> Option<(u32, u32)> {
    let head = base64::decode(data.get(..HEADER_CHARS.min(data.len()))?)?;
    let pair = |at: usize| {
        Some(u32::from(u16::from_be_bytes(
            head.get(at..at + 2)?.try_into().ok()?,
        )))
    };
    let word = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?));
    if head.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some((word(16)?, word(20)?));
    }
    if !head.starts_with(&[0xff, 0xd8]) {
        return None;
    }
    // A JPEG is a list of segments with their lengths; a frame segment contains the size.
    let mut at = 2;
    loop {
        let kind = *head.get(at + 1)?;
        if matches!(kind, 0xc0..=0xcf) && !matches!(kind, 0xc4 | 0xc8 | 0xcc) {
            return Some((pair(at + 7)?, pair(at + 5)?));
        }
        at += 2 + pair(at + 2)? as usize;
    }
}
