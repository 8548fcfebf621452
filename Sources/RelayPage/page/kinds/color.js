/** `#RRGGBB`, and the opacity in hundredths. */
export const ink = color => ({rgb: color.slice(0, 7), opacity: Math.floor((parseInt(color.slice(7), 16) * 100 + 127) / 255)})
