//! Conversions between f32 and the two 16-bit floats, to nearest with ties to even.
//!
//! Arithmetic on them is done in f32 and rounded after each operation, everywhere.

/// Converts IEEE binary16 to f32, exactly.
pub fn f32_from_f16(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10) & 0x1f;
    let fraction = u32::from(bits) & 0x3ff;
    let magnitude = match exponent {
        0 => (fraction as f32 * f32::from_bits(0x3380_0000)).to_bits(), // fraction * 2^-24
        0x1f => 0x7f80_0000 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | magnitude)
}

/// Converts f32 to IEEE binary16. A NaN keeps its sign and top payload bits and becomes quiet.
pub fn f16_from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    let half = if magnitude > 0x7f80_0000 {
        0x7e00 | (magnitude >> 13) as u16 & 0x3ff
    } else if magnitude >= 0x4780_0000 {
        0x7c00 // 65536 and beyond; 65520.. overflows below, by rounding
    } else if magnitude >= 0x3880_0000 {
        let odd = magnitude >> 13 & 1;
        ((magnitude - 0x3800_0000 + 0xfff + odd) >> 13) as u16
    } else {
        // After the addition of 0.5 the low fraction bits hold the subnormal's value, in units of
        // 2^-24.
        (f32::from_bits(magnitude) + 0.5).to_bits() as u16
    };
    sign | half
}

/// Converts bfloat16 to f32, exactly.
pub fn f32_from_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Converts f32 to bfloat16. A NaN keeps its top bits and stays NaN.
pub fn bf16_from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let top = (bits >> 16) as u16;
    if !value.is_nan() {
        let odd = bits >> 16 & 1;
        return ((bits + 0x7fff + odd) >> 16) as u16;
    }
    if top & 0x7f == 0 { top | 0x40 } else { top }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_f16_and_bf16_survives_the_way_through_f32() {
        for bits in 0..=u16::MAX {
            let (f16, bf16) = (f32_from_f16(bits), f32_from_bf16(bits));
            if !f16.is_nan() {
                assert_eq!(f16_from_f32(f16), bits);
            }
            assert_eq!(bf16_from_f32(bf16), bits);
        }
    }

    #[test]
    fn f16_rounds_to_nearest_even() {
        // A value halfway between neighbours goes to the even one, a value just above goes up.
        for bits in 0..0x7bff_u16 {
            let (low, high) = (f64::from(f32_from_f16(bits)), f64::from(f32_from_f16(bits + 1)));
            let middle = ((low + high) / 2.0) as f32;
            assert_eq!(f16_from_f32(middle), bits + (bits & 1));
            assert_eq!(f16_from_f32(f32::from_bits(middle.to_bits() + 1)), bits + 1);
            assert_eq!(f16_from_f32(-middle), 0x8000 | (bits + (bits & 1)));
        }
        assert_eq!(f16_from_f32(65519.996), 0x7bff);
        assert_eq!(f16_from_f32(65520.0), 0x7c00);
    }
}
